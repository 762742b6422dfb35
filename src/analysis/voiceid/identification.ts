// SPDX-License-Identifier: Apache-2.0
//
// Identifies a speaker in a list: probabilities that follow from the cosines with all voiceprints of the list.
import type { VoiceprintRanking } from '../../base/addon/addon.js';
import type { Identification } from '../../base/contract/identification.js';
import { rounded } from '../verdict/verdict.js';
import { exceededBy, shareAbove } from './normal-distribution.js';
import { type Speaker, significant } from './speaker.js';

/** A match: a stranger reaches it in at most this share of lists of the same length. */
const STRANGERS_MATCHED = 0.01;

/**
 * The body of an answer of `POST /v1/voiceid/search` (docs/voiceid.md#identify).
 * @param prior the probability that the speaker is on the list, before the voice was heard; 0..1
 */
export function identificationBody(
  { cosines, best }: VoiceprintRanking,
  speaker: Speaker,
  prior: number,
  processingS: number,
): Identification {
  const { length } = cosines;
  // Every entry is as probable as every other before, and at most one is the speaker's.
  const evidence = cosines.map((cosine) => speaker.evidenceOf(cosine));
  const strongest = Math.max(0, ...evidence);
  const unknown = (1 - prior) * Math.exp(-strongest);
  const known = evidence.reduce((sum, each) => sum + (prior / length) * Math.exp(each - strongest), 0);
  const stranger = speaker.strangers && strangersOf(speaker.strangers, length);
  const matches = best.map(({ index, cosine, idJson }) => {
    const similarity = speaker.similarityOf(cosine);
    const reached = stranger?.probabilityOf(cosine);
    return {
      id: JSON.parse(idJson) as string,
      index,
      cosine: rounded(cosine),
      similarity_score: similarity,
      probability: significant(
        ((prior / length) * Math.exp(speaker.evidenceOf(cosine) - strongest)) / (unknown + known),
      ),
      stranger_probability: reached === undefined ? null : significant(reached),
      is_match: similarity >= speaker.threshold && (reached === undefined || reached <= STRANGERS_MATCHED),
    };
  });
  return {
    matches,
    unknown_probability: significant(unknown / (unknown + known)),
    stranger_similarity:
      stranger === undefined
        ? null
        : {
            median: speaker.similarityOf(stranger.cosineAt(0.5)),
            one_in_100: speaker.similarityOf(stranger.cosineAt(0.01)),
          },
    compared: length,
    processing_time: rounded(processingS),
    model_version: speaker.modelId,
    deepfake_score: null,
  };
}

/** The best of `length` draws from the distribution of strangers. */
function strangersOf({ mean, sd }: NonNullable<Speaker['strangers']>, length: number) {
  return {
    /** That it reaches this cosine: 1 - (1 - p)^length, without losing small numbers. */
    probabilityOf(cosine: number): number {
      if (cosine >= 1) return 0;
      return -Math.expm1(length * Math.log1p(-shareAbove((Math.atanh(cosine) - mean) / sd)));
    },
    /** The cosine that it reaches with this probability. */
    cosineAt(probability: number): number {
      return Math.tanh(mean + sd * exceededBy(-Math.expm1(Math.log1p(-probability) / length)));
    },
  };
}
