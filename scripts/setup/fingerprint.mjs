// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { rootDir } from './step.mjs';

const stampDir = path.join(rootDir, 'build/stamps');

/** Content hash of files and of all files under folders, given relative to the repository's root. */
function fingerprint(inputs) {
  const hash = createHash('sha256');
  for (const file of inputs.flatMap(filesUnder).sort()) {
    hash
      .update(`${file}\0`)
      .update(fs.readFileSync(path.join(rootDir, file)))
      .update('\0');
  }
  return hash.digest('hex');
}

function filesUnder(input) {
  const absolute = path.join(rootDir, input);
  if (!fs.statSync(absolute).isDirectory()) return [input];
  return fs
    .readdirSync(absolute, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(rootDir, path.join(entry.parentPath, entry.name)));
}

/**
 * Calls `build` unless `output` exists and was built from exactly these inputs. Contents are compared, not times:
 * a fresh clone or a change of branch gives every file a new time.
 */
export async function buildUnlessFresh({ name, inputs, output, build }) {
  const stampFile = path.join(stampDir, name);
  const current = fingerprint(inputs);
  if (fs.existsSync(path.join(rootDir, output)) && readIfThere(stampFile) === current) return;
  fs.rmSync(stampFile, { force: true });
  await build();
  markFresh({ name, inputs }, current);
}

/** Records that the output was built from exactly these inputs. */
export function markFresh({ name, inputs }, contents = fingerprint(inputs)) {
  fs.mkdirSync(stampDir, { recursive: true });
  fs.writeFileSync(path.join(stampDir, name), contents);
}

function readIfThere(file) {
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined;
}
