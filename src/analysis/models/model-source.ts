// SPDX-License-Identifier: Apache-2.0
//
// Apart from model-file.ts, so that scoring threads do not load the checks of a manifest.
import { stat } from 'node:fs/promises';
import { ManifestError } from './manifest-error.js';

/** The source of a session: a file's bytes, or files that lie beside each other. */
export type ModelSource = Uint8Array | ModelFiles;

export interface ModelFiles {
  readonly path: string;
  /** Of the graph and the weights: changes with every change of either. */
  readonly stamp: string;
  readonly weightsPath: string;
}

/**
 * Refuses files that were changed since they were checked.
 * @throws ManifestError
 */
export async function checkUnchanged(files: ModelFiles): Promise<void> {
  if ((await stampOf(files)) === files.stamp) return;
  throw new ManifestError([
    `${files.path} or ${files.weightsPath} was changed after its SHA-256 had been checked. Give new weights a file of their own.`,
  ]);
}

/** Changes with every change of the graph or the weights. */
export async function stampOf({ path, weightsPath }: Omit<ModelFiles, 'stamp'>): Promise<string> {
  const stats = await Promise.all([path, weightsPath].map((file) => stat(file, { bigint: true })));
  return stats
    .map(({ dev, ino, size, mtimeNs, ctimeNs }) => [dev, ino, size, mtimeNs, ctimeNs].join(' '))
    .join(', ');
}
