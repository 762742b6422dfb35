// SPDX-License-Identifier: Apache-2.0
import type { Analysis, ScoredWindow } from '../analyser/analyser.js';

/** Speech this much weaker above 4.7 kHz than below 3.4 kHz has lost its high frequencies, as over a telephone. */
export const BAND_LIMITED_FROM_DB = 55;
/** Speech whose loudest sounds are less than this above its quietest is noisy. Such noise, if it is added, makes verdicts wrong 1.6 to 6 times as often. */
export const LOW_SNR_BELOW_DB = 31;
/** Opus at fewer bits per second removes enough that verdicts are wrong 1.7 to 2.5 times as often. */
const LOW_OPUS_RATE_BELOW_BITS_PER_S = 20_000;
/** A global confidence below this is little better than chance, for a model whose manifest entry has no `abstention`. */
export const UNCERTAIN_BELOW_CONFIDENCE = 0.2;

/** The possible causes of a reason: measures of the recording, and when its model is uncertain. */
export type Measured = Pick<Analysis, 'highBandDropDb' | 'noiseGapDb' | 'uncertainBelowConfidence'>;

/** The verdict before its reason. */
export interface Judgement {
  readonly windows: number;
  /** Some stretch stands out from the rest. */
  readonly isMixed: boolean;
  readonly lowBitRateWindows: number;
  readonly confidence: number;
}

/** An unknown rate is no reason. */
export const hasLowBitRate = ({ codec, codedBitsPerS = Number.POSITIVE_INFINITY }: ScoredWindow): boolean =>
  codec === 'opus' && codedBitsPerS < LOW_OPUS_RATE_BELOW_BITS_PER_S;

/**
 * Why the verdict needs caution; the reasons with the most errors come first. docs/reasons.md has the error rate under each of
 * them, and the measures that were left out. `when` is exact, for developers; `meaning` is for readers of a verdict.
 */
export const reasons = {
  uncertain: {
    when:
      'The global confidence is below 0.1, as the manifest says for the shipped detectors; below ' +
      `${UNCERTAIN_BELOW_CONFIDENCE} for a model without \`abstention\`.`,
    meaning:
      'The score is so near the threshold that the verdict is little better than chance. A longer or better recording may help.',
    applies: ({ uncertainBelowConfidence = UNCERTAIN_BELOW_CONFIDENCE }: Measured, judgement: Judgement) =>
      judgement.confidence < uncertainBelowConfidence,
  },
  mixed_content: {
    when: 'A stretch sounds AI-generated and stands out from the rest of the recording: `detail=stretches` says where.',
    meaning: 'A part sounds AI-generated, and the rest does not: the timeline shows where.',
    applies: (_: Measured, { isMixed }: Judgement) => isMixed,
  },
  band_limited: {
    when:
      `The loudest twentieth of the speech is at least ${BAND_LIMITED_FROM_DB} dB weaker above 4.7 kHz than below 3.4 kHz: the ` +
      'recording comes from a telephone, or went through a similar filter or codec.',
    meaning:
      'The high frequencies are missing, as in a telephone call. Such verdicts are more often wrong: analyse the original recording if you can.',
    applies: ({ highBandDropDb }: Measured) =>
      highBandDropDb !== undefined && highBandDropDb >= BAND_LIMITED_FROM_DB,
  },
  low_bit_rate: {
    when: `More than half of the windows are Opus at less than ${LOW_OPUS_RATE_BELOW_BITS_PER_S} bits per second, of all channels.`,
    meaning:
      'The recording is encoded at a very low bit rate. Such verdicts are more often wrong: analyse the original recording if you can.',
    applies: (_: Measured, { lowBitRateWindows, windows }: Judgement) => 2 * lowBitRateWindows > windows,
  },
  low_snr: {
    when:
      `The loudest tenth of the speech is less than ${LOW_SNR_BELOW_DB} dB above its quietest 3 %: a ` +
      'signal-to-noise ratio of at most 15 to 20 dB, depending on the noise.',
    meaning:
      'There is noise behind the speech. Added noise makes verdicts wrong more often: analyse a quieter recording if you can.',
    applies: ({ noiseGapDb }: Measured) => noiseGapDb !== undefined && noiseGapDb < LOW_SNR_BELOW_DB,
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
