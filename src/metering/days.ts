// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs/promises';
import path from 'node:path';

const dayMs = 86_400_000;

/** The UTC day as files are named by it: 2026-11-21. */
export const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

/** The day in a file's name; undefined where the file is none of ours. */
export const dayOfFile = (name: string): string | undefined => /^\d{4}-\d{2}-\d{2}(?=\.)/.exec(name)?.[0];

/** Removes the files of days that are over for `keptDays` or longer; 0 keeps all. */
export async function removeOldDays(dir: string, keptDays: number, now: Date): Promise<void> {
  if (keptDays === 0) return;
  const oldest = dayOf(new Date(now.getTime() - keptDays * dayMs));
  for (const name of await fs.readdir(dir)) {
    const day = dayOfFile(name);
    // Another server on the same folder may be doing the same.
    if (day !== undefined && day < oldest) await fs.rm(path.join(dir, name), { force: true });
  }
}
