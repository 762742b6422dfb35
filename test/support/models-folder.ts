// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
import { temporaryFolder } from './cli.js';

const shipped = path.join(packageDir, 'models');

/** A folder with a shipped detector under each of these ids, whichever are trained so far. */
export function modelsFolder(test: TestContext, ids: readonly string[]): string {
  const folder = temporaryFolder(test);
  const { version, models } = JSON.parse(fs.readFileSync(path.join(shipped, 'manifest.json'), 'utf8'));
  const detector = models.find(({ task }: { task: string }) => task === 'detection');
  fs.symlinkSync(path.join(shipped, detector.file), path.join(folder, detector.file));
  // The twin for GPUs and the clips of the known answers stay in place.
  const { gpu: _, known_answers: __, ...entry } = detector;
  const entries = ids.map((id) => ({ ...entry, id, aliases: [] }));
  fs.writeFileSync(path.join(folder, 'manifest.json'), JSON.stringify({ version, models: entries }));
  return folder;
}
