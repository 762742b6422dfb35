// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { manifestSchema } from './manifest-schema.js';

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
  readonly short_window: 'repeat' | 'zero_pad';
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
    /** `logit`: one number or one per class; `probability`: likewise, already 0..1. */
    readonly kind: 'logit' | 'probability';
    /** Which class is the AI-generated one, where there are several. */
    readonly index: number;
  };
}

/** Turns a voice into an embedding; its calibration is over the cosine of two of them. */
export interface SpeakerModel extends AnyModel {
  readonly task: 'speaker';
  readonly output: { readonly name: string; readonly kind: 'embedding'; readonly index: 0 };
}

/** One entry of models/manifest.json. */
export type Model = DetectionModel | SpeakerModel;

/** Numbers per embedding (service interface, section 8). */
export const EMBEDDING_SIZE = 256;

/** Numbers that a model gives for one input. */
export function outputSizeOf({ task }: Pick<Model, 'task'>): number {
  return task === 'speaker' ? EMBEDDING_SIZE : 1;
}

export interface Manifest {
  readonly version: 1;
  readonly models: readonly Model[];
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

/** The manifest or a model file cannot be used; the message names the file and the field. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}

/** Reads and checks `manifest.json` in `modelsDir`, and the SHA-256 of each file that it names. */
export async function loadManifest(modelsDir: string): Promise<Manifest> {
  const path = join(modelsDir, 'manifest.json');
  const manifest = parse(path, await readFile(path, 'utf8'));
  if (!manifest.models.some((model) => model.task === 'detection')) {
    throw new ManifestError(`${path}: expected at least one model with the task detection but found none.`);
  }
  const names = new Set<string>();
  for (const model of manifest.models) {
    for (const name of [model.id, ...model.aliases]) {
      if (names.has(name)) throw new ManifestError(`${path}: the model id ${name} is given twice.`);
      names.add(name);
    }
    await checkFile(join(modelsDir, model.file), model);
  }
  return manifest;
}

function parse(path: string, text: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ManifestError(`${path} is not JSON: ${(cause as Error).message}`, { cause });
  }
  const ajv = new Ajv({ discriminator: true, strictTuples: false });
  const isManifest = ajv.compile<Manifest>(manifestSchema);
  if (!isManifest(value)) throw new ManifestError(`${path}: ${ajv.errorsText(isManifest.errors)}`);
  return value;
}

async function checkFile(path: string, model: Model): Promise<void> {
  const sha256 = createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
  if (sha256 !== model.sha256) {
    throw new ManifestError(
      `${path}: expected the SHA-256 ${model.sha256} of ${model.id} but found ${sha256}.`,
    );
  }
}
