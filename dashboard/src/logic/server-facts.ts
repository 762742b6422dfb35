// SPDX-License-Identifier: Apache-2.0
import type { AdminAnalysisFacts } from '../../../client/src/index.js';

/** A served detector, as far as the page needs it. */
export interface DetectorFacts {
  /** Exact id. */
  readonly id: string;
  readonly aliases: readonly string[];
  /** Global confidences below are `uncertain`; undefined if that is not known. */
  readonly uncertainBelow: number | undefined;
  readonly operatingPoints: readonly { readonly name: string; readonly threshold: number }[];
}

export interface ServerFacts {
  /** Names of the detectors in requests. */
  readonly modelNames: readonly string[];
  readonly defaultModel: string;
  readonly threshold: number;
  readonly silenceThresholdPercent: number;
  /** The largest file that is analysed at once. */
  readonly maxFileBytes: number;
  readonly detectors: readonly DetectorFacts[];
}

export const serverFacts = (answer: AdminAnalysisFacts): ServerFacts => ({
  modelNames: answer.model_names,
  defaultModel: answer.default_model,
  threshold: answer.threshold,
  silenceThresholdPercent: answer.silence_threshold,
  maxFileBytes: answer.max_file_bytes,
  detectors: answer.detectors.map(({ id, aliases, uncertain_below, operating_points }) => ({
    ...{ id, aliases },
    uncertainBelow: uncertain_below ?? undefined,
    operatingPoints: operating_points,
  })),
});

export const detectorNamed = (
  { detectors }: Pick<ServerFacts, 'detectors'>,
  name: string,
): DetectorFacts | undefined => detectors.find(({ id, aliases }) => id === name || aliases.includes(name));
