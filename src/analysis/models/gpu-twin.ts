// SPDX-License-Identifier: Apache-2.0
import type { Model } from './manifest.js';

/** The entry as it counts on a GPU: with the file and the known answers of its twin, if it has one. */
export function forGpu<Entry extends Model>(model: Entry): Entry {
  const { gpu, weights_file: _, weights_sha256: __, known_answers: ___, ...rest } = model;
  if (gpu === undefined) return model;
  const { source_sha256: ____, ...twin } = gpu;
  return { ...rest, ...twin } as Entry;
}
