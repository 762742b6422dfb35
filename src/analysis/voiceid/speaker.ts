// SPDX-License-Identifier: Apache-2.0
//
// This room handles voice identity: it makes voiceprints from embeddings, compares them, and reads lists
// of them. Each voiceprint is bound to the model that made it.
import type { Config } from '../../base/config/options.js';
import { answersTo } from '../../base/contract/model-ids.js';
import { probabilityOf } from '../../base/log-odds.js';
import type { OperatingPoints } from '../../state/operating-points/operating-points.js';
import type { SpeakerModelStatus } from '../analyser/analyser.js';
import { dot, normalised } from './vectors.js';
import { VoiceprintSpace } from './voiceprint-space.js';

/** The likeness of two voices. */
export interface Comparison {
  /** Of the two voiceprints, -1..1: comparable within one model only. */
  readonly cosine: number;
  /** 0..1, with the same meaning whatever the model. */
  readonly similarity: number;
}

/**
 * Six significant digits, not decimals: strangers lie far below one millionth and still differ from each other. Answers
 * and matches come from the rounded number, so that a client can recompute them.
 */
export const significant = (value: number): number => Number(value.toPrecision(6));

/** The speaker model in use: the space of its voiceprints and the comparison of two. */
export class Speaker {
  readonly modelId: string;
  readonly space: VoiceprintSpace;
  /** Similarity from which two voices count as the same. */
  readonly threshold: number;
  /** Of artanh(cosine) between strangers; undefined if the model does not say. */
  readonly strangers: SpeakerModelStatus['strangers'];
  readonly #calibration: SpeakerModelStatus['calibration'];

  constructor(model: SpeakerModelStatus, matchThreshold: number | undefined) {
    this.modelId = model.id;
    this.space = new VoiceprintSpace(model.fingerprint);
    this.threshold = matchThreshold ?? model.operatingPoint;
    this.strangers = model.strangers;
    this.#calibration = model.calibration;
  }

  compare(a: Float32Array, b: Float32Array): Comparison {
    const cosine = dot(normalised(a), normalised(b));
    return { cosine, similarity: this.similarityOf(cosine) };
  }

  similarityOf(cosine: number): number {
    return significant(probabilityOf(this.evidenceOf(cosine)));
  }

  /** The natural logarithm of how much likelier the cosine is for one speaker than for two. */
  evidenceOf(cosine: number): number {
    const { scale, bias } = this.#calibration;
    return scale * cosine + bias;
  }
}

/**
 * The model that the configuration names, or the first; undefined without models.
 * @throws Error if the named model is not loaded
 */
export function chooseSpeakerModel(
  loaded: readonly SpeakerModelStatus[],
  { speakerModel }: Pick<Config, 'speakerModel'>,
): SpeakerModelStatus | undefined {
  const model =
    speakerModel === '' ? loaded[0] : loaded.find((candidate) => answersTo(candidate, speakerModel));
  if (model === undefined && speakerModel !== '') {
    const ids = loaded.map(({ id }) => id).join(', ') || 'none';
    throw new Error(
      `Expected a loaded speaker model (${ids}) for VERAVOX_SPEAKER_MODEL but received ${speakerModel}.`,
    );
  }
  return model;
}

/**
 * That model with its threshold.
 * @param points if the configuration may name an operating point of it
 * @throws Error when the model that is named is not loaded, or has no such operating point
 */
export function chooseSpeaker(
  loaded: readonly SpeakerModelStatus[],
  config: Pick<Config, 'speakerModel' | 'matchThreshold'>,
  points: OperatingPoints,
): Speaker | undefined {
  const model = chooseSpeakerModel(loaded, config);
  if (model === undefined) return undefined;
  const { matchThreshold } = config;
  const threshold =
    matchThreshold === undefined
      ? undefined
      : points.thresholdOf(matchThreshold, model, 'VERAVOX_MATCH_THRESHOLD');
  return new Speaker(model, threshold);
}
