// SPDX-License-Identifier: Apache-2.0
//
// One voiceprint of several samples, and the findings about each of them.
import {
  enrollNeeds,
  FEWEST_GOOD_SAMPLES,
  GOOD_SPEECH_S,
  SAMPLES_AGREE_FROM,
} from '../../base/contract/limits.js';
import type { EnrollmentQuality, SampleReport } from '../../base/contract/voice-samples.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { rounded } from '../verdict/verdict.js';
import type { Speaker } from './speaker.js';
import { toMilliseconds, type VoiceSample } from './voice-sample.js';

/** Of the loudest speech above the quietest. */
const NOISY_BELOW_DB = 18;

/** A sample that was read, if it is long enough. */
export type ReadSample = { readonly sample: VoiceSample; readonly isAiGenerated: boolean } | 'too_short';

export interface JoinedSamples {
  readonly voiceprint: Float32Array;
  readonly reports: readonly SampleReport[];
  readonly quality: EnrollmentQuality;
  /** The samples behind the voiceprint. */
  readonly accepted: readonly VoiceSample[];
}

interface Usable {
  readonly index: number;
  readonly sample: VoiceSample;
}

/**
 * The voiceprint is the mean of those samples that are long enough, human and alike, weighted by their speech.
 * @param rejectsAiGenerated whether AI-generated samples are left out
 * @throws ServiceError SAMPLES_INSUFFICIENT, SAMPLES_DISAGREE
 */
export function joinSamples(
  samples: readonly ReadSample[],
  speaker: Speaker,
  rejectsAiGenerated: boolean,
): JoinedSamples {
  const usable: Usable[] = [];
  for (const [index, read] of samples.entries()) {
    if (read !== 'too_short' && !(read.isAiGenerated && rejectsAiGenerated)) {
      usable.push({ index, sample: read.sample });
    }
  }
  const alike = alikeOf(usable, speaker);
  const reports = samples.map((read, index) => reportOf(read, index, usable, alike, speaker));
  if (usable.length > 0 && 2 * alike.length <= usable.length)
    throw new ServiceError('SAMPLES_DISAGREE', { samples: inWords(reports) });
  const accepted = alike.map(({ sample }) => sample);
  const durationS = toMilliseconds(sumOf(accepted, ({ durationS }) => durationS));
  const speechS = toMilliseconds(sumOf(accepted, ({ speechS }) => speechS));
  if (durationS < enrollNeeds.minDurationS || speechS < enrollNeeds.minSpeechS) {
    throw new ServiceError('SAMPLES_INSUFFICIENT', {
      durationS,
      speechS,
      requiredS: enrollNeeds.minDurationS,
      requiredSpeechS: enrollNeeds.minSpeechS,
      samples: inWords(reports),
    });
  }
  const [first, ...rest] = accepted;
  return {
    voiceprint:
      first && rest.length === 0 ? first.voiceprint : speaker.space.voiceprintOf(weightedSum(accepted)),
    reports,
    quality: qualityOf(reports, speechS, speaker),
    accepted,
  };
}

/**
 * Leaves out the sample that is least like the mean of the others, until all are alike enough. The rest may be too little to
 * identify the speaker.
 */
function alikeOf(usable: readonly Usable[], speaker: Speaker): readonly Usable[] {
  let kept = usable;
  while (kept.length > 1) {
    let worst = kept[0] as Usable;
    let least = Number.POSITIVE_INFINITY;
    for (const candidate of kept) {
      const { similarity } = compareWithOthers(candidate, kept, speaker);
      if (similarity >= least) continue;
      worst = candidate;
      least = similarity;
    }
    if (least >= SAMPLES_AGREE_FROM) break;
    kept = kept.filter((candidate) => candidate !== worst);
  }
  return kept;
}

const compareWithOthers = (one: Usable, all: readonly Usable[], speaker: Speaker) =>
  speaker.compare(
    one.sample.voiceprint,
    weightedSum(all.filter((other) => other !== one).map(({ sample }) => sample)),
  );

function reportOf(
  read: ReadSample,
  index: number,
  usable: readonly Usable[],
  alike: readonly Usable[],
  speaker: Speaker,
): SampleReport {
  if (read === 'too_short') {
    return {
      index,
      accepted: false,
      reason: 'too_short',
      duration: null,
      speech: null,
      snr_db: null,
      agreement: null,
    };
  }
  const { durationS, speechS, snrDb } = read.sample;
  const measured = {
    duration: rounded(durationS),
    speech: rounded(speechS),
    snr_db: snrDb === undefined ? null : Math.round(snrDb * 10) / 10,
  };
  const own = usable.find((candidate) => candidate.index === index);
  if (own === undefined)
    return { index, accepted: false, reason: 'ai_generated', ...measured, agreement: null };
  const isAlike = alike.includes(own);
  const others = (alike.length > 1 ? alike : usable).filter((other) => other !== own);
  const agreement =
    others.length === 0 ? null : rounded(compareWithOthers(own, [own, ...others], speaker).cosine);
  return { index, accepted: isAlike, reason: isAlike ? null : 'disagrees', ...measured, agreement };
}

function weightedSum(samples: readonly VoiceSample[]): Float32Array {
  const sum = new Float32Array(samples[0]?.voiceprint.length ?? 0);
  for (const { voiceprint, speechS } of samples) {
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + speechS * (voiceprint[i] as number);
  }
  return sum;
}

function qualityOf(reports: readonly SampleReport[], speechS: number, speaker: Speaker): EnrollmentQuality {
  const accepted = reports.filter((report) => report.accepted);
  const agreements = accepted.flatMap(({ agreement }) => (agreement === null ? [] : [agreement]));
  const agreement = agreements.length === 0 ? null : Math.min(...agreements);
  const applies: Readonly<Record<EnrollmentQuality['shortcomings'][number], boolean>> = {
    little_speech: speechS < GOOD_SPEECH_S,
    few_samples: accepted.length < FEWEST_GOOD_SAMPLES,
    noisy: accepted.some(({ snr_db }) => snr_db !== null && snr_db < NOISY_BELOW_DB),
    low_agreement: agreement !== null && speaker.similarityOf(agreement) < speaker.threshold,
  };
  const shortcomings = (Object.keys(applies) as (keyof typeof applies)[]).filter((name) => applies[name]);
  const rating = (['good', 'fair'] as const)[shortcomings.length] ?? 'poor';
  return { rating, shortcomings, speech: speechS, agreement };
}

const inWords = (reports: readonly SampleReport[]): string =>
  reports.map(({ index, reason }) => `${index + 1}: ${reason ?? 'usable'}`).join(', ');

const sumOf = <Item>(items: readonly Item[], of: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + of(item), 0);
