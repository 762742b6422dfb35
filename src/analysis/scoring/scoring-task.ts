// SPDX-License-Identifier: Apache-2.0
import type { CodedSound } from '../../base/addon/addon.js';
import type { SharedInputSlots } from '../memory/input-slots.js';
import type { Model } from '../models/manifest.js';
import type { ModelSource } from '../models/model-source.js';
import type { ScoringDevice } from './devices.js';

/** Given to every scoring thread once. */
export interface ScoringWorkerData {
  readonly models: readonly Model[];
  /**
   * The file of each model, in shared memory: the checked bytes, whatever lies in the folder by now. With weights in a file of
   * their own the paths, and no session is made once the files have changed.
   */
  readonly sources: readonly ModelSource[];
  /** In place of them on GPUs. */
  readonly gpuSources?: readonly ModelSource[] | undefined;
  readonly slots: SharedInputSlots;
  readonly device: ScoringDevice;
  readonly maxBatchInputs: number;
}

export type ScoringTask =
  | { readonly kind: 'warm-up' }
  | {
      readonly kind: 'score';
      readonly model: number;
      readonly slots: readonly number[];
      /** The coding of the sound in each slot. */
      readonly sounds: readonly CodedSound[];
      readonly wantsVectors?: boolean;
    }
  | { readonly kind: 'release' };

export interface ScoringResult {
  /**
   * The model's outputs for each slot, one after the other, `outputSizeOf(model)` numbers each: a detector's probability, NaN
   * if its output was not finite, or an embedding as the model put it out.
   */
  readonly outputs: Float64Array;
  /** The vectors inside the detector for each slot, one after the other, if they are wanted. */
  readonly vectors?: Float32Array;
}
