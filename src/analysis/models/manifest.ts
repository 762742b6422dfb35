// SPDX-License-Identifier: Apache-2.0
//
// This room reads a models folder: the manifest and its schema, the files of weights, calibration, and
// fingerprints of everything that a score depends on.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { FromSchema, JSONSchema } from 'json-schema-to-ts';
import { ownSchemas } from '../../base/config/own-schemas.js';
import { ManifestError } from './manifest-error.js';
import {
  type calibrationSchema,
  type detectionAnswerSchema,
  type detectionSchema,
  manifestSchema,
  type speakerSchema,
  type spectrogramSchema,
  type waveformSchema,
} from './manifest-schema.js';

type Frozen<Value> = { readonly [Key in keyof Value]: Frozen<Value[Key]> };
type Entry<Schema extends JSONSchema> = Frozen<FromSchema<Schema>>;

/** The recipe for a model's inputs. native/features/feature_recipe.h states the effect of each field. */
export type FeatureRecipe = WaveformRecipe | SpectrogramRecipe;
export type WaveformRecipe = Entry<typeof waveformSchema>;
export type SpectrogramRecipe = Entry<typeof spectrogramSchema>;

/** Turns a model's output into a number from 0 to 1. */
export type Calibration = Entry<typeof calibrationSchema>;

/** Tells AI-generated from human voices; its calibration is over the logit. */
export type DetectionModel = Entry<typeof detectionSchema>;

/** Turns a voice into an embedding; its calibration is over the cosine of two of them. */
export type SpeakerModel = Entry<typeof speakerSchema>;

/** Tolerances of an answer, if they differ from those in src/analysis/known-answers/known-answers.ts. */
export type Tolerances = Pick<Entry<typeof detectionAnswerSchema>, 'tolerance' | 'cuda_tolerance'>;

/** One entry of models/manifest.json. */
export type Model = DetectionModel | SpeakerModel;

export interface Manifest {
  readonly version: 1;
  readonly models: readonly Model[];
}

export function manifestPath(modelsDir: string): string {
  return join(modelsDir, 'manifest.json');
}

/**
 * Reads and checks `manifest.json` in `modelsDir`, without a look at the files that it names.
 * @throws ManifestError
 */
export async function readManifest(modelsDir: string): Promise<Manifest> {
  const path = manifestPath(modelsDir);
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw cause;
    throw new ManifestError(
      [`There is no manifest.json in ${modelsDir}. Set VERAVOX_MODELS_DIR to a folder with models.`],
      { cause },
    );
  });
  try {
    return checkManifest(path, JSON.parse(text));
  } catch (cause) {
    if (cause instanceof ManifestError) throw cause;
    throw new ManifestError([`${path} is not JSON: ${(cause as Error).message}`], { cause });
  }
}

let isManifest: ValidateFunction<Manifest> | undefined;

function compileManifestSchema(): ValidateFunction<Manifest> {
  const options = { allErrors: true, discriminator: true, strictTuples: false };
  // Optimising the code takes longer than all else, for code that runs once at start.
  return new Ajv({ ...ownSchemas, ...options, code: { optimize: false } }).compile<Manifest>(manifestSchema);
}

/**
 * Checks every field of a manifest's JSON. `path` is for the messages.
 * @throws ManifestError
 */
export function checkManifest(path: string, value: unknown): Manifest {
  isManifest ??= compileManifestSchema();
  if (!isManifest(value)) {
    throw new ManifestError((isManifest.errors ?? []).map((error) => `${path}: ${describe(error, value)}.`));
  }
  if (!value.models.some((model) => model.task === 'detection')) {
    throw new ManifestError([`${path}: expected at least one model with the task detection but found none.`]);
  }
  const names = new Set<string>();
  for (const name of value.models.flatMap(({ id, aliases }) => [id, ...aliases])) {
    if (names.has(name)) throw new ManifestError([`${path}: the model id ${name} is given twice.`]);
    names.add(name);
  }
  for (const model of value.models) {
    if (model.task === 'detection') checkCodecs(path, model);
    checkTwin(path, model);
  }
  return value;
}

/** Otherwise a GPU would run the weights before the last training. */
function checkTwin(path: string, { id, file, sha256, gpu }: Model): void {
  if (gpu === undefined || gpu.source_sha256 === sha256) return;
  throw new ManifestError([
    `${path}: ${id}: ${gpu.file} was made from another ${file}. Make it anew: python3 -m export.gpu_twins in training.`,
  ]);
}

function checkCodecs(path: string, { id, calibration }: DetectionModel): void {
  for (const [codec, points] of Object.entries(calibration.codecs ?? {})) {
    for (const [i, [bitsPerS]] of points.entries()) {
      const before = points[i - 1]?.[0] ?? 0;
      if (bitsPerS > before) continue;
      throw new ManifestError([
        `${path}: ${id}: calibration.codecs.${codec}: expected ascending rates but found ${bitsPerS} after ${before}.`,
      ]);
    }
  }
}

// `models[2].features.log must be equal to one of the allowed values: none, natural`
function describe({ instancePath, message, params }: ErrorObject, manifest: unknown): string {
  const field = instancePath
    .slice(1)
    .split('/')
    .map((name, i) => (/^\d+$/.test(name) ? `[${name}]` : i === 0 ? name : `.${name}`))
    .join('');
  const [, index] = /^\/models\/(\d+)/.exec(instancePath) ?? [];
  const { models } = manifest as { models?: readonly { id?: unknown }[] };
  const id = index === undefined ? undefined : models?.[Number(index)]?.id;
  const { allowedValues, allowedValue, additionalProperty } = params as Record<string, unknown>;
  const detail = allowedValues ?? allowedValue ?? additionalProperty;
  return [
    typeof id === 'string' && `${id}: `,
    field === '' ? 'the manifest' : field,
    ` ${message}`,
    detail !== undefined && `: ${[detail].flat().join(', ')}`,
  ]
    .filter(Boolean)
    .join('');
}
