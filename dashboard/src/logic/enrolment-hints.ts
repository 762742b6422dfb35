// SPDX-License-Identifier: Apache-2.0
//
// The server's measurements of samples, in words.
import type { EnrollmentQuality, SampleReport } from '../../../client/src/index.js';

const NOISY_BELOW_DB = 18;

/** Why a sample is left out of the voiceprint, and the remedy. */
export const refusals: Readonly<Record<NonNullable<SampleReport['reason']>, string>> = {
  too_short: 'Left out: it has less than 1 s of audio or of speech. Record a longer one.',
  ai_generated: 'Left out: the voice was detected as AI-generated.',
  disagrees: 'Left out: it sounds like a different speaker from the other samples.',
};

export const advice: Readonly<Record<EnrollmentQuality['shortcomings'][number], string>> = {
  little_speech: 'There is less than 15 s of speech. Add a sample.',
  few_samples: 'There are fewer than three samples. Three from different occasions are better than one.',
  noisy: 'There is noise. Record in a quieter place, closer to the microphone.',
  low_agreement: 'The samples are less similar than usual for one speaker. Listen to them again.',
};

export const ratings: Readonly<Record<EnrollmentQuality['rating'], string>> = {
  good: 'Good: nothing to improve.',
  fair: 'Fair: usable, with one shortcoming.',
  poor: 'Poor: expect more errors until this is fixed.',
};

const seconds = (value: number): string => `${value.toFixed(1)} s`;

export function speechOf({ duration, speech }: SampleReport): string {
  if (duration === null || speech === null) return 'too short to measure';
  return `${seconds(speech)} of speech in ${seconds(duration)}`;
}

export function noiseOf({ snr_db }: SampleReport): string {
  if (snr_db === null) return 'not measured';
  const words = snr_db < NOISY_BELOW_DB ? 'noisy' : 'clear';
  return `${words}: loudest speech ${Math.round(snr_db)} dB above the quietest`;
}

export function agreementOf({ agreement, accepted }: SampleReport): string {
  if (agreement !== null) return `cosine ${agreement.toFixed(2)}`;
  return accepted ? 'nothing to compare with' : 'not compared';
}
