// SPDX-License-Identifier: Apache-2.0
//
// The manifest's schema and the native code each list the fields of a recipe and their words: this finds gaps in
// either.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inputTextOf, recipeTextOf } from '../../src/analysis/models/input-text.js';
import type { SpectrogramRecipe } from '../../src/analysis/models/manifest.js';
import {
  detectionSchema,
  spectrogramSchema,
  waveformSchema,
} from '../../src/analysis/models/manifest-schema.js';
import { isStageError, loadAddon } from '../../src/base/addon/addon.js';
import { logMelRecipe } from '../support/log-mel-recipe.js';

const addon = loadAddon();

const model = {
  sample_rate_hz: 16_000,
  window_samples: 80_000,
  hop_samples: 80_000,
  short_window: 'repeat',
  features: logMelRecipe,
} as const;

/** The native code's objection to a text; undefined if it accepts it. */
function refusalOf(make: () => unknown): string | undefined {
  try {
    make();
    return undefined;
  } catch (error) {
    assert.ok(isStageError(error), String(error));
    assert.equal(error.code, 'INTERNAL');
    return error.message;
  }
}
const refusalOfLine = (line: string): string | undefined =>
  refusalOf(() => new addon.Preparer(`${inputTextOf(model)}\n${line}`));

const schemas: Readonly<Record<string, object>> = {
  short_window: detectionSchema.properties.short_window,
  ...waveformSchema.properties,
  ...spectrogramSchema.properties,
};

for (const [field, schema] of Object.entries(schemas)) {
  test(`${field} is a field of a recipe, and an error about it names it`, () => {
    assert.match(refusalOfLine(`${field}=nonsense`) ?? '', new RegExp(`${field} must be .* is "nonsense"`));
  });
  for (const word of 'enum' in schema ? (schema.enum as readonly unknown[]) : []) {
    test(`${field} may be ${word}`, () => assert.equal(refusalOfLine(`${field}=${word}`), undefined));
  }
}

test('an unknown field is refused by its name', () => {
  assert.match(refusalOfLine('colour=red') ?? '', /no field "colour"/);
});

test('a recipe that makes no sense is refused by the field', () => {
  const refusal = refusalOf(
    () => new addon.FeatureExtractor(recipeTextOf({ ...logMelRecipe, fmax_hz: 9000 })),
  );
  assert.equal(
    refusal,
    'Feature recipe: fmax_hz must be greater than fmin_hz and at most half the sample rate but is 9000.',
  );
});

test('what is no text is refused', () => {
  const given = model as unknown as string;
  assert.throws(() => new addon.Preparer(given), TypeError);
  assert.throws(() => new addon.FeatureExtractor(given), TypeError);
});

test('fields that a recipe leaves out are as the manifest says', () => {
  const samples = Float32Array.from({ length: 16_000 }, (_, i) => Math.sin(i * i * 1e-5));
  const compute = (recipe: SpectrogramRecipe) =>
    new addon.FeatureExtractor(recipeTextOf(recipe)).compute(samples);
  const centred: SpectrogramRecipe = { ...logMelRecipe, centred: true };
  const said = compute({ ...centred, edges: 'mirrored', dynamic_range_db: 0 });
  assert.deepEqual(compute(centred), said);
  assert.notDeepEqual(compute({ ...centred, edges: 'zeros' }), said);
});
