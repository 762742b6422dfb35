// SPDX-License-Identifier: Apache-2.0
import type { FeatureRecipe, Model } from './manifest.js';

export type ModelInputSpec = Pick<
  Model,
  'sample_rate_hz' | 'window_samples' | 'hop_samples' | 'short_window' | 'features'
>;

/** A model's input for a window of audio, in the form that native/prepare/model_input_text.h reads. */
export function inputTextOf(model: ModelInputSpec): string {
  const { sample_rate_hz, window_samples, hop_samples, short_window, features } = model;
  return linesOf({ sample_rate_hz, window_samples, hop_samples, short_window, ...features });
}

/** The recipe alone, as native/features/recipe_text.h reads it. */
export function recipeTextOf(features: FeatureRecipe): string {
  return linesOf({ ...features });
}

// A line of `field=value` each, lists with commas: the form in which training also hands a recipe to the native code.
function linesOf(fields: Readonly<Record<string, string | number | boolean | readonly number[]>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
}
