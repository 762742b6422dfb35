// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';

// TypeScript's form: one at the beginning of a line.
const STATIC_IMPORT = /^(?:import|export)\s(?:[^;'"]*?\sfrom\s)?['"]([^'"]+)['"]/gm;

/** The packages that a built file and its imports load before they run, sorted by name. */
export function packagesOf(program: string): string[] {
  const packages = new Set<string>();
  const seen = new Set<string>();
  const waiting = [program];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    for (const [, name = ''] of fs.readFileSync(file, 'utf8').matchAll(STATIC_IMPORT)) {
      if (name.startsWith('.')) waiting.push(path.resolve(path.dirname(file), name));
      else if (!name.startsWith('node:')) packages.add(name);
    }
  }
  return [...packages].sort();
}
