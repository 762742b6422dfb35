// SPDX-License-Identifier: Apache-2.0
import { type SampleNeeds, verifyNeeds } from '../../base/contract/limits.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { isAiGenerated } from './answers.js';
import type { ReadSample } from './joined-samples.js';
import type { VoiceSample } from './voice-sample.js';

/**
 * Reads the samples of one enrolment, one after the other. Each needs no more than a sample to verify.
 * @throws the errors of `read`, except for samples that are too short
 */
export async function readSamples<Place>(
  places: readonly Place[],
  read: (place: Place, needs: SampleNeeds) => Promise<VoiceSample>,
): Promise<readonly ReadSample[]> {
  const samples: ReadSample[] = [];
  for (const place of places) {
    try {
      const sample = await read(place, verifyNeeds);
      samples.push({ sample, isAiGenerated: isAiGenerated(sample) });
    } catch (error) {
      const isTooShort = error instanceof ServiceError && tooShort.has(error.key);
      if (!isTooShort) throw error;
      samples.push('too_short');
    }
  }
  return samples;
}

const tooShort: ReadonlySet<string> = new Set(['AUDIO_TOO_SHORT', 'SPEECH_TOO_SHORT']);

export const voicesIn = (samples: readonly ReadSample[]): readonly VoiceSample[] =>
  samples.flatMap((read) => (read === 'too_short' ? [] : [read.sample]));

type Measured = Pick<VoiceSample, 'modelIds' | 'durationS' | 'scoredWindows' | 'skipped' | 'timesMs'>;

/** The samples as if they were one, for the record of a request. */
export function togetherOf(voices: readonly Measured[]) {
  const sum = (of: (voice: Measured) => number): number =>
    voices.reduce((total, voice) => total + of(voice), 0);
  return {
    modelIds: [...new Set(voices.flatMap(({ modelIds }) => modelIds))],
    durationS: sum(({ durationS }) => durationS),
    scoredWindows: sum(({ scoredWindows }) => scoredWindows),
    skipped: voices.flatMap(({ skipped }) => skipped),
    timesMs: {
      queue: sum(({ timesMs }) => timesMs.queue),
      decode: sum(({ timesMs }) => timesMs.decode),
      features: sum(({ timesMs }) => timesMs.features),
      inference: sum(({ timesMs }) => timesMs.inference),
    },
  };
}

/** The sample that is most likely AI-generated. */
export const mostSuspicious = (voices: readonly VoiceSample[]): VoiceSample | undefined =>
  voices.toSorted((a, b) => (b.deepfakeScore ?? 0) - (a.deepfakeScore ?? 0))[0];
