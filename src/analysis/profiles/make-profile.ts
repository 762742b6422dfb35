// SPDX-License-Identifier: Apache-2.0
import { setImmediate } from 'node:timers/promises';
import { ServiceError } from '../../base/errors/service-error.js';
import { logOddsOf } from '../../base/log-odds.js';
import { wilsonInterval } from '../../base/proportion.js';
import type { MeasuredErrors } from '../../state/operating-points/operating-point.js';
import type {
  ErrorsWithAndWithout,
  NewProfile,
  Profile,
  ScoreCorrection,
} from '../../state/operating-points/profile.js';
import type { DetectorStatus } from '../analyser/analyser.js';
import { dot } from '../voiceid/vectors.js';
import { adjustmentOf, encodeDirection, shareAt } from './correction.js';

/** A recording as its detector sees it. */
export interface HeardRecording {
  /** The mean vector of its windows. */
  readonly vector: Float32Array;
  /** 0..1, without a profile. */
  readonly score: number;
}

/** Vectors of AI-generated speech that come with a model. */
export interface GeneratedSpeech {
  readonly vectors: readonly Float32Array[];
  readonly scores: readonly number[];
}

/** Two analyses of the same sound differ by less of a vector's length, two recordings by more. */
const REPEATED_DISTANCE = 0.001;

/** Share of the AI-generated vectors that a correction leaves as they are; chosen in training/EXPERIMENTS.md. */
const UNTOUCHED_SHARE = 0.85;
/** Log-odds below the threshold that a correction aims at. */
const MARGIN = 0.3;
const MAX_STRENGTH = 6;
/** Recordings far from the channel must not decide on the strength. */
const MIN_SHARE = 0.1;
/** A profile may let this many times the AI-generated vectors pass. */
export const MAX_COST = 1.2;

const SPOOFED = 0.5;

/** With the order statistics in between, as NumPy does by default. @param sorted ascending */
function quantile(sorted: Float64Array, share: number): number {
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)] as number;
  return low + (at - Math.floor(at)) * ((sorted[Math.ceil(at)] as number) - low);
}

const ascending = (values: readonly number[]): Float64Array => Float64Array.from(values).sort();

function sumOf(vectors: readonly Float32Array[]): Float64Array {
  const sum = new Float64Array(vectors[0]?.length ?? 0);
  for (const vector of vectors)
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + (vector[i] as number);
  return sum;
}

export const meanOf = (vectors: readonly Float32Array[]): Float32Array =>
  Float32Array.from(sumOf(vectors), (value) => value / vectors.length);

/** The unit vector from the mean of AI-generated speech to that of recordings, given by the sum of their vectors. */
function directionTo(
  sum: Float64Array,
  count: number,
  origin: Float32Array,
  without?: Float32Array,
): Float32Array {
  const difference = origin.map((value, i) => ((sum[i] as number) - (without?.[i] ?? 0)) / count - value);
  const length = Math.sqrt(dot(difference, difference));
  return length === 0 ? difference : difference.map((value) => value / length);
}

/**
 * Adds a recording, unless its sound is among them: a profile that leaves one of two copies out is made with the other.
 * @throws ServiceError RECORDING_REPEATED
 */
export function addDistinct(recordings: HeardRecording[], heard: HeardRecording): void {
  const { vector } = heard;
  const limit = REPEATED_DISTANCE ** 2 * dot(vector, vector);
  const isCopy = (other: HeardRecording): boolean => {
    const difference = vector.map((value, i) => value - (other.vector[i] as number));
    return dot(difference, difference) <= limit;
  };
  if (recordings.some(isCopy)) throw new ServiceError('RECORDING_REPEATED');
  recordings.push(heard);
}

/** @throws RangeError with fewer than two recordings */
export function correctionFor(
  genuine: readonly HeardRecording[],
  generated: readonly Float32Array[],
): ScoreCorrection {
  if (genuine.length < 2) throw new RangeError('A correction needs at least two recordings.');
  const origin = meanOf(generated);
  const count = genuine.length;
  const sum = sumOf(genuine.map(({ vector }) => vector));
  // Each at its place on a direction that it has no part in, as later recordings will be.
  const own = genuine.map(({ vector }) => {
    const others = directionTo(sum, count - 1, origin, vector);
    return dot(vector, others) - dot(origin, others);
  });
  const direction = directionTo(sum, count, origin);
  const start = dot(origin, direction);
  const others = generated.map((vector) => dot(vector, direction) - start);
  const mean = others.reduce((sum, value) => sum + value, 0) / others.length;
  const spread = Math.sqrt(others.reduce((sum, value) => sum + (value - mean) ** 2, 0) / others.length);
  const from = quantile(ascending(others), UNTOUCHED_SHARE);
  const to = Math.max(quantile(ascending(own), 0.5), from + spread / 2);
  const needed = genuine.map(({ score }, i) => {
    const excess = logOddsOf(score) + MARGIN;
    return excess <= 0 ? 0 : excess / Math.max(shareAt(own[i] as number, from, to), MIN_SHARE);
  });
  return {
    direction: encodeDirection(direction),
    from: from + start,
    to: to + start,
    strength: Math.min(MAX_STRENGTH, Math.max(...needed)),
  };
}

/**
 * Errors with a correction and without. Genuine recordings are judged by a correction made without them.
 * @param own given AI-generated recordings
 */
export async function measuredWith(
  correction: ScoreCorrection,
  genuine: readonly HeardRecording[],
  generated: GeneratedSpeech,
  own: readonly HeardRecording[],
): Promise<Profile['measured']> {
  const errors = (count: number, of: number): MeasuredErrors => ({
    count,
    of,
    value: count / of,
    interval_95: wilsonInterval(count, of),
  });
  const compare = (
    recordings: readonly HeardRecording[],
    corrected: readonly number[],
    isWrong: (score: number) => boolean,
  ): ErrorsWithAndWithout => ({
    without: errors(recordings.filter(({ score }) => isWrong(score)).length, recordings.length),
    with: errors(corrected.filter(isWrong).length, recordings.length),
  });
  const adjust = adjustmentOf(correction);
  const leftOut: number[] = [];
  for (const [i, { score, vector }] of genuine.entries()) {
    // Each takes milliseconds, in which a server answers nobody else.
    await setImmediate();
    leftOut.push(adjustmentOf(correctionFor(genuine.toSpliced(i, 1), generated.vectors))(score, vector));
  }
  const others = generated.vectors.map((vector, i) => ({ vector, score: generated.scores[i] as number }));
  const isPassed = (score: number): boolean => score < SPOOFED;
  const adjusted = (recordings: readonly HeardRecording[]): number[] =>
    recordings.map(({ score, vector }) => adjust(score, vector));
  return {
    flagged: compare(genuine, leftOut, (score) => score >= SPOOFED),
    passed: compare(others, adjusted(others), isPassed),
    passed_own: own.length === 0 ? null : compare(own, adjusted(own), isPassed),
  };
}

/** Why a profile should not be saved: a clause; undefined if it should. */
export function whyNotWorthwhile({
  flagged,
  passed,
  passed_own: own,
}: Profile['measured']): string | undefined {
  if (flagged.without.count === 0) return 'none of the genuine recordings is flagged without it';
  if (flagged.with.count >= flagged.without.count)
    return `it helps none of the recordings left out: ${flagged.without.count} of ${flagged.without.of} are flagged without it, ${flagged.with.count} with it`;
  const dear = [passed, own].find((each) => each && each.with.count > MAX_COST * each.without.count);
  if (!dear) return undefined;
  const { without, with: after } = dear;
  return `it lets too much AI-generated speech pass: ${after.count} of ${after.of}, ${without.count} without it`;
}

/** The profile that recordings make for a detector, whether or not it is worthwhile. */
export async function makeProfile(
  name: string,
  { id, sha256, scoreFingerprint }: DetectorStatus,
  background: GeneratedSpeech,
  genuine: readonly HeardRecording[],
  generated: readonly HeardRecording[],
): Promise<NewProfile> {
  const correction = correctionFor(genuine, background.vectors);
  return {
    name,
    model: id,
    model_sha256: sha256,
    fingerprint: scoreFingerprint,
    correction,
    recordings: { genuine: genuine.length, generated: generated.length },
    measured: await measuredWith(correction, genuine, background, generated),
    created_at: new Date().toISOString(),
  };
}
