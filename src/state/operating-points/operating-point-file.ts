// SPDX-License-Identifier: Apache-2.0
//
// Operating points as they were kept before there was a database: `<dataDir>/operating-points.json`.
import fs from 'node:fs';
import path from 'node:path';
import { syncFolder } from '../data-folder/durable-file.js';
import { MOVED_SUFFIX, markAsMoved, refuseEarlierPrograms } from '../data-folder/moved-files.js';
import { type OperatingPoint, POINT_FILE_VERSION } from './operating-point.js';
import type { OperatingPointRegistry } from './operating-point-registry.js';

const fileIn = (dataDir: string): string => path.join(dataDir, 'operating-points.json');
/** The file while its contents are moved: an earlier program that looks for it finds the mark already. */
const movingIn = (dataDir: string): string => `${fileIn(dataDir)}.moving`;

/** The file whose points are not in the database yet. */
export function earlierPointFile(dataDir: string): string | undefined {
  const [file, moving] = [fileIn(dataDir), movingIn(dataDir)];
  if (fs.existsSync(file) && !isMark(file)) return file;
  return fs.existsSync(moving) ? moving : undefined;
}

/**
 * Puts the points of the file into the database and sets the file aside. Repeating it changes nothing, so it may be killed at
 * any point.
 * @throws OperatingPointFileError; then nothing has changed
 */
export async function takeOverPointFile(dataDir: string, registry: OperatingPointRegistry): Promise<void> {
  const [file, moving] = [fileIn(dataDir), movingIn(dataDir)];
  const earlier = earlierPointFile(dataDir);
  const points = earlier === undefined ? [] : await pointsOf(earlier);
  if (earlier === file) {
    // One that is there is from an attempt that an earlier program has not noticed.
    fs.rmSync(moving, { force: true });
    fs.linkSync(file, moving);
    markAsMoved(file);
  }
  refuseEarlierPrograms(file);
  if (earlier === undefined) return;
  await registry.add(points);
  fs.renameSync(moving, `${file}${MOVED_SUFFIX}`);
  syncFolder(dataDir);
}

/** The checks take time to load, and most data folders have no such file. */
async function pointsOf(file: string): Promise<readonly OperatingPoint[]> {
  const { readPointFile } = await import('./read-point-file.js');
  return readPointFile(file);
}

function isMark(file: string): boolean {
  try {
    return (
      (JSON.parse(fs.readFileSync(file, 'utf8')) as { version?: unknown } | null)?.version ===
      POINT_FILE_VERSION + 1
    );
  } catch {
    // The reader says why.
    return false;
  }
}
