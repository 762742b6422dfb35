// SPDX-License-Identifier: Apache-2.0
import type { Analysis } from '../analyser/analyser.js';

/** Less speech than this in the whole file is too little for a reliable verdict. */
export const LOW_SPEECH_BELOW_S = 2;
/** This share of samples at full scale means that the recording was overdriven. */
export const CLIPPED_FROM_RATIO = 0.01;
/** Speech this much weaker above 4.7 kHz than below 3.4 kHz has lost its high frequencies, as over a telephone. */
export const BAND_LIMITED_FROM_DB = 55;
/** Speech less than this above the pauses is noisy. */
export const LOW_SNR_BELOW_DB = 18;
/** A global confidence below this is little better than chance. */
export const UNCERTAIN_BELOW_CONFIDENCE = 0.2;

/** What was measured on the audio of a recording, that a reason may follow from. */
export type Measured = Pick<
  Analysis,
  'durationS' | 'speechRatio' | 'clippedRatio' | 'highBandDropDb' | 'noiseGapDb'
>;

/** The verdict before its reason. */
export interface Judgement {
  readonly spoofedWindows: number;
  readonly bonafideWindows: number;
  readonly confidence: number;
}

/**
 * Why the verdict needs caution, in order of precedence: problems of the audio come first, because they explain odd scores.
 */
export const reasons = {
  low_speech: {
    when: `Less than ${LOW_SPEECH_BELOW_S} s of speech in the whole file.`,
    applies: (analysis: Measured) => analysis.speechRatio * analysis.durationS < LOW_SPEECH_BELOW_S,
  },
  clipped: {
    when: `At least ${CLIPPED_FROM_RATIO * 100} percent of the samples are at full scale.`,
    applies: (analysis: Measured) => analysis.clippedRatio >= CLIPPED_FROM_RATIO,
  },
  band_limited: {
    when:
      `The loudest twentieth of the speech is at least ${BAND_LIMITED_FROM_DB} dB weaker above 4.7 kHz than below 3.4 kHz: the ` +
      'recording comes from a telephone, or went through a similar filter or codec.',
    applies: ({ highBandDropDb }: Measured) =>
      highBandDropDb !== undefined && highBandDropDb >= BAND_LIMITED_FROM_DB,
  },
  low_snr: {
    when:
      `The loudest tenth of the speech is less than ${LOW_SNR_BELOW_DB} dB above the median of the pauses: a ` +
      'signal-to-noise ratio of at most 5 to 10 dB.',
    applies: ({ noiseGapDb }: Measured) => noiseGapDb !== undefined && noiseGapDb < LOW_SNR_BELOW_DB,
  },
  mixed_content: {
    when: 'Some windows are spoofed and some are bonafide: see the segments.',
    applies: (_: Measured, judgement: Judgement) =>
      judgement.spoofedWindows > 0 && judgement.bonafideWindows > 0,
  },
  uncertain: {
    when: `The global confidence is below ${UNCERTAIN_BELOW_CONFIDENCE}.`,
    applies: (_: Measured, judgement: Judgement) => judgement.confidence < UNCERTAIN_BELOW_CONFIDENCE,
  },
} as const;

export type Reason = keyof typeof reasons;

/** The first reason that applies, or null. */
export function reasonOf(analysis: Measured, judgement: Judgement): Reason | null {
  for (const reason of Object.keys(reasons) as Reason[]) {
    if (reasons[reason].applies(analysis, judgement)) return reason;
  }
  return null;
}
