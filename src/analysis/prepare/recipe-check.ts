// SPDX-License-Identifier: Apache-2.0
import type { Addon, Preparer } from '../../base/addon/addon.js';
import { inputTextOf } from '../models/input-text.js';
import type { Model } from '../models/manifest.js';
import { ManifestError } from '../models/manifest-error.js';
import { inputShapeOf } from '../models/model-sizes.js';

/**
 * The native code that makes a model's inputs, after a look at whether they have the shape that the model's entry states:
 * an array of the same size with its axes in another order would be served without an error, and with nonsense for an
 * answer.
 * @throws ManifestError
 */
export function makePreparer(addon: Pick<Addon, 'Preparer'>, model: Model): Preparer {
  let preparer: Preparer;
  try {
    preparer = new addon.Preparer(inputTextOf(model));
  } catch (cause) {
    throw new ManifestError([`${model.id}: ${(cause as Error).message}`], { cause });
  }
  checkShape(model, preparer.inputSize);
  return preparer;
}

function checkShape({ id, features, input, window_samples }: Model, floats: number): void {
  const axes = axesOf(features, floats);
  const given = inputShapeOf({ input }).filter((size) => size !== 1);
  const made = axes.map(([size]) => size).filter((size) => size !== 1);
  const isFlat = given.length === 1 && given[0] === floats;
  if (isFlat || (given.length === made.length && given.every((size, i) => size === made[i]))) return;
  const expected = axes.map(([size, name]) => `${size} ${name}`).join(', ');
  throw new ManifestError([
    `${id}: input.shape: expected [batch, ${expected}], with any axes of 1, as the recipe makes of ${window_samples} samples, but it is [${input.shape.join(', ')}].`,
  ]);
}

function axesOf(features: Model['features'], floats: number): (readonly [size: number, name: string])[] {
  if (features.kind === 'waveform') return [[floats, 'samples']];
  if (features.mean_spectrum_fft_sizes?.length || features.phase_coherence_fft_sizes?.length)
    return [[floats, 'numbers']];
  const bands = [features.bands, 'bands'] as const;
  const frames = [floats / features.bands, 'frames'] as const;
  return features.layout === 'bands_frames' ? [bands, frames] : [frames, bands];
}
