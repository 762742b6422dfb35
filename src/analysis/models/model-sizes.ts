// SPDX-License-Identifier: Apache-2.0
//
// Apart from the manifest, which is checked by a library that no scoring thread should have to load.
import { EMBEDDING_SIZE } from '../../base/contract/limits.js';
import type { Model } from './manifest.js';

/** Numbers that a model gives for one input. */
export function outputSizeOf({ task }: Pick<Model, 'task'>): number {
  return task === 'speaker' ? EMBEDDING_SIZE : 1;
}

/** The axes of one model input, without the batch. */
export function inputShapeOf({ input }: Pick<Model, 'input'>): number[] {
  const [, ...shape] = input.shape;
  return shape;
}

/** Floats per model input. */
export function inputSizeOf(model: Pick<Model, 'input'>): number {
  return inputShapeOf(model).reduce((product, size) => product * size, 1);
}
