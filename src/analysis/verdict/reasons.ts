// SPDX-License-Identifier: Apache-2.0
import type { Analysis } from '../analyser/analyser.js';

/** Less speech than this in the whole file is little to judge by. */
export const LOW_SPEECH_BELOW_S = 2;
/** This share of samples at full scale means that the recording was overdriven. */
export const CLIPPED_FROM_RATIO = 0.01;
/** Speech that is this much weaker above 4.7 kHz than below 3.4 kHz has lost what lay there, as over a telephone. */
export const BAND_LIMITED_FROM_DB = 55;
/** Speech that stands less than this above the pauses has noise under it. */
export const LOW_SNR_BELOW_DB = 18;
/** A global confidence below this is as good as a toss of a coin. */
export const UNCERTAIN_BELOW_CONFIDENCE = 0.2;

/** What the verdict looks like before a reason is given. */
export interface Judgement {
  readonly spoofedWindows: number;
  readonly bonafideWindows: number;
  readonly confidence: number;
}

/**
 * Why a caller should not take the verdict as it stands, in order of precedence: what is wrong with the audio first,
 * because it explains what is odd about the scores.
 */
export const reasons = {
  low_speech: {
    when: `Less than ${LOW_SPEECH_BELOW_S} s of speech in the whole file.`,
    applies: (analysis: Analysis) => analysis.speechRatio * analysis.durationS < LOW_SPEECH_BELOW_S,
  },
  clipped: {
    when: `${CLIPPED_FROM_RATIO * 100} percent of the samples or more are at full scale.`,
    applies: (analysis: Analysis) => analysis.clippedRatio >= CLIPPED_FROM_RATIO,
  },
  band_limited: {
    when:
      `The loudest twentieth of the speech is at least ${BAND_LIMITED_FROM_DB} dB weaker above 4.7 kHz than below 3.4 kHz: the ` +
      'recording was made over a telephone, or through a filter or codec like one.',
    applies: ({ highBandDropDb }: Analysis) =>
      highBandDropDb !== undefined && highBandDropDb >= BAND_LIMITED_FROM_DB,
  },
  low_snr: {
    when:
      `The loudest tenth of the speech stands less than ${LOW_SNR_BELOW_DB} dB above the middle of the pauses, which is a ` +
      'signal-to-noise ratio of 5 to 10 dB or less.',
    applies: ({ noiseGapDb }: Analysis) => noiseGapDb !== undefined && noiseGapDb < LOW_SNR_BELOW_DB,
  },
  mixed_content: {
    when: 'Some windows are spoofed and some are bonafide: look at the segments.',
    applies: (_: Analysis, judgement: Judgement) =>
      judgement.spoofedWindows > 0 && judgement.bonafideWindows > 0,
  },
  uncertain: {
    when: `The global confidence is below ${UNCERTAIN_BELOW_CONFIDENCE}.`,
    applies: (_: Analysis, judgement: Judgement) => judgement.confidence < UNCERTAIN_BELOW_CONFIDENCE,
  },
} as const;

export type Reason = keyof typeof reasons;

/** The first reason that applies, or null. */
export function reasonOf(analysis: Analysis, judgement: Judgement): Reason | null {
  for (const reason of Object.keys(reasons) as Reason[]) {
    if (reasons[reason].applies(analysis, judgement)) return reason;
  }
  return null;
}
