// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv, type ErrorObject } from 'ajv';
import { ownSchemas } from '../config/own-schemas.js';
import { manifestSchema } from './manifest-schema.js';
import { readOnnxHeader } from './onnx-header.js';

/** The model's input is the samples of the window themselves. */
export interface WaveformRecipe {
  readonly kind: 'waveform';
  readonly input_gain: number;
  readonly normalisation: 'none' | 'mean' | 'mean_variance';
}

/** The model's input is a spectrogram. native/features/feature_recipe.h states what each field does. */
export interface SpectrogramRecipe {
  readonly kind: 'spectrogram';
  readonly fft_size: number;
  readonly window_length: number;
  readonly hop_length: number;
  readonly window: 'hann' | 'hamming' | 'povey' | 'rectangular';
  readonly periodic_window: boolean;
  readonly centred: boolean;
  /** What a centred frame finds beyond the ends of the input; mirrored where absent. */
  readonly edges?: 'mirrored' | 'zeros';
  readonly pre_emphasis: number;
  readonly remove_dc_offset: boolean;
  readonly input_gain: number;
  readonly scale: 'linear' | 'mel';
  readonly bands: number;
  readonly first_bin: number;
  readonly fmin_hz: number;
  readonly fmax_hz: number;
  readonly mel_formula: 'htk' | 'slaney';
  readonly mel_norm: 'none' | 'slaney';
  readonly triangles_on_mel_axis: boolean;
  readonly power: number;
  readonly log: 'none' | 'natural' | 'log10' | 'decibel';
  readonly log_floor: number;
  readonly normalisation: 'none' | 'mean' | 'mean_variance';
  readonly dynamic_range_db?: number;
  readonly normalise_globally: boolean;
  readonly layout: 'bands_frames' | 'frames_bands';
}

/** What a model takes of a window of audio; the addon reads it as it stands in the manifest. */
export interface ModelInputSpec {
  readonly sample_rate_hz: number;
  /** Samples per model input. */
  readonly window_samples: number;
  /** Samples between the inputs of one 5 s window. */
  readonly hop_samples: number;
  /** How audio shorter than `window_samples` is filled up. */
  readonly short_window: 'repeat' | 'repeat_sound' | 'zero_pad';
  readonly features: WaveformRecipe | SpectrogramRecipe;
}

/** What an entry of models/manifest.json says whatever the model is for. */
interface AnyModel extends ModelInputSpec {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly file: string;
  readonly sha256: string;
  readonly licence: string;
  readonly input: {
    readonly name: string;
    /** The first axis is the batch; the others are fixed and hold one model input. */
    readonly shape: readonly ['batch', ...number[]];
  };
  /** Turns what the model puts out into a number from 0 to 1: sigmoid(scale * x + bias). */
  readonly calibration: Calibration;
  /** The calibrated number from which the answer is yes. */
  readonly operating_point: number;
  readonly metrics: Readonly<Record<string, unknown>>;
  readonly training?: Readonly<Record<string, unknown>>;
}

export interface Calibration {
  readonly scale: number;
  readonly bias: number;
}

/** Tells AI-generated from human voices; its calibration is over the logit. */
export interface DetectionModel extends AnyModel {
  readonly task: 'detection';
  readonly output: {
    readonly name: string;
    /**
     * `logit`: one number, or one per class, which the softmax is taken of; `independent_logit`: the number at `index` by
     * itself; `probability`: likewise, already 0..1.
     */
    readonly kind: 'logit' | 'independent_logit' | 'probability';
    /** Which number is that of the AI-generated class, where there are several. */
    readonly index: number;
  };
  readonly known_answers?: readonly DetectionAnswer[];
}

/** Turns a voice into an embedding; its calibration is over the cosine of two of them. */
export interface SpeakerModel extends AnyModel {
  readonly task: 'speaker';
  readonly output: { readonly name: string; readonly kind: 'embedding'; readonly index: 0 };
  readonly known_answers?: readonly SpeakerAnswer[];
}

/** How far each number of an answer may be off, where that is not what src/known-answers/known-answers.ts says. */
export interface Tolerances {
  readonly tolerance?: number;
  /** In place of `tolerance` where CUDA runs the model. */
  readonly cuda_tolerance?: number;
}

interface KnownAnswer extends Tolerances {
  /** An audio file, by its path from the folder of the manifest. */
  readonly file: string;
}

/** What a detector is known to say of a clip: the scores of its windows, one after the other. */
export interface DetectionAnswer extends KnownAnswer {
  readonly scores: readonly number[];
}

/** The first numbers of the normalised embedding that a speaker model is known to give for a clip. */
export interface SpeakerAnswer extends KnownAnswer {
  readonly embedding: readonly number[];
}

/** One entry of models/manifest.json. */
export type Model = DetectionModel | SpeakerModel;

export interface Manifest {
  readonly version: 1;
  readonly models: readonly Model[];
}

/** The manifest or a model file cannot be used; each of `problems` names the file and the field. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join('\n'), options);
    this.problems = problems;
  }
}

export function manifestPath(modelsDir: string): string {
  return join(modelsDir, 'manifest.json');
}

/**
 * Reads and checks `manifest.json` in `modelsDir`, and the SHA-256 of each file that it names.
 * @throws ManifestError
 */
export async function loadManifest(modelsDir: string): Promise<Manifest> {
  const manifest = await readManifest(modelsDir);
  for (const model of manifest.models) await readModelFile(modelsDir, model);
  return manifest;
}

/**
 * The same without a look at the files that it names.
 * @throws ManifestError
 */
export async function readManifest(modelsDir: string): Promise<Manifest> {
  const path = manifestPath(modelsDir);
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw cause;
    throw new ManifestError(
      [
        `There is no manifest.json in ${modelsDir}, where VERAVOX_MODELS_DIR or the default looks for models.`,
      ],
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

/**
 * Takes what a manifest's JSON says for a manifest, after a look at every field. `path` is for the messages.
 * @throws ManifestError
 */
export function checkManifest(path: string, value: unknown): Manifest {
  const options = { allErrors: true, discriminator: true, strictTuples: false };
  const ajv = new Ajv({ ...ownSchemas, ...options });
  const isManifest = ajv.compile<Manifest>(manifestSchema);
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
  return value;
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

/**
 * A model's file, if it is the one that its entry means.
 * @throws ManifestError
 */
export async function readModelFile(modelsDir: string, model: Pick<Model, 'id' | 'file' | 'sha256'>) {
  const path = join(modelsDir, model.file);
  const bytes = await readFile(path);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== model.sha256) {
    throw new ManifestError([
      `${path}: expected the SHA-256 ${model.sha256} of ${model.id} but found ${sha256}.`,
    ]);
  }
  const header = readOnnxHeader(bytes);
  if (header.hasWeightsOutside) {
    throw new ManifestError([
      `${path}: expected a file that holds its own weights, but some of them lie in another file, which no SHA-256 vouches for.`,
    ]);
  }
  return { bytes, header };
}
