// SPDX-License-Identifier: Apache-2.0
//
// Verification trials over the labelled validation speakers of a speech corpus: an enrolment of 10 s and more against
// samples with 3 s of speech from other recordings, all inside one source, since across sources the recording conditions
// would give the answer away.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { loadAddon } from '../../src/base/addon/addon.js';
import { readIndex } from './corpus-index.js';

export const SAMPLE_RATE_HZ = 16000;
export const TEST_SPEECH_S = 3;
const ENROLMENT_S = 10;
const ENROLMENT_SPEECH_S = 3;
const FRAME_S = 0.01;

interface Clip {
  readonly path: string;
  readonly speaker: string;
  readonly source: string;
}

/** Clips of one speaker and source, joined. */
export interface Recording {
  readonly speaker: string;
  readonly source: string;
  readonly samples: Float32Array;
}

export interface Trial {
  readonly enrolled: number;
  readonly tested: number;
}

export interface Trials {
  readonly enrolments: readonly Recording[];
  readonly samples: readonly Recording[];
  readonly trials: readonly Trial[];
}

export interface TrialLimits {
  readonly seed: number;
  readonly samplesPerSpeaker: number;
  /** Enrolments of other speakers to compare each sample with. */
  readonly impostorsPerSample: number;
}

export function makeTrials(corpus: string, limits: TrialLimits): Trials {
  const random = randomOf(limits.seed);
  const enrolments: Recording[] = [];
  const samples: Recording[] = [];
  for (const clips of groupsOf(clipsOf(corpus))) {
    const { speaker, source } = clips[0] as Clip;
    const queue = shuffled(clips, random);
    const take = (wantedS: number, speechS: number) => joinUntil(corpus, queue, wantedS, speechS);
    const enrolment = take(ENROLMENT_S, ENROLMENT_SPEECH_S);
    if (enrolment === undefined) continue;
    const own: Recording[] = [];
    while (own.length < limits.samplesPerSpeaker) {
      const sample = take(1, TEST_SPEECH_S);
      if (sample === undefined) break;
      own.push({ speaker, source, samples: sample });
    }
    if (own.length === 0) continue;
    enrolments.push({ speaker, source, samples: enrolment });
    samples.push(...own);
  }
  const trials = samples.flatMap(({ speaker, source }, tested) => {
    const inSource = enrolments.flatMap((enrolment, enrolled) =>
      enrolment.source === source ? [enrolled] : [],
    );
    const same = inSource.filter((enrolled) => enrolments[enrolled]?.speaker === speaker);
    const others = inSource.filter((enrolled) => enrolments[enrolled]?.speaker !== speaker);
    const impostors = shuffled(others, random).slice(0, limits.impostorsPerSample);
    return [...same, ...impostors].map((enrolled) => ({ enrolled, tested }));
  });
  return { enrolments, samples, trials };
}

function clipsOf(corpus: string): Clip[] {
  return readIndex(corpus)
    .filter(
      ({ label, split, speaker_verified }) =>
        label === 'bonafide' && split === 'valid' && speaker_verified === 'yes',
    )
    .map(({ path = '', speaker = '', source = '' }) => ({ path, speaker, source }));
}

function groupsOf(clips: readonly Clip[]): Clip[][] {
  const groups = new Map<string, Clip[]>();
  for (const clip of clips) {
    const name = `${clip.source} ${clip.speaker}`;
    groups.set(name, [...(groups.get(name) ?? []), clip]);
  }
  return [...groups.values()];
}

/** Takes clips from the front of the queue until both are reached; undefined if they run out. */
function joinUntil(
  corpus: string,
  queue: Clip[],
  wantedS: number,
  wantedSpeechS: number,
): Float32Array | undefined {
  const parts: Float32Array[] = [];
  for (;;) {
    const clip = queue.shift();
    if (clip === undefined) return undefined;
    parts.push(decode(join(corpus, clip.path)));
    const joined = concatenated(parts);
    if (joined.length >= wantedS * SAMPLE_RATE_HZ && speechSecondsOf(joined) >= wantedSpeechS) return joined;
  }
}

function decode(path: string): Float32Array {
  const args = ['-v', 'error', '-i', path, '-ar', String(SAMPLE_RATE_HZ), '-ac', '1', '-f', 'f32le', '-'];
  const bytes = execFileSync('ffmpeg', args, { maxBuffer: 64 << 20 });
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

function concatenated(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let filled = 0;
  for (const part of parts) {
    whole.set(part, filled);
    filled += part.length;
  }
  return whole;
}

function speechSecondsOf(samples: Float32Array): number {
  const { VoiceActivityDetector } = loadAddon();
  return new VoiceActivityDetector().detect(samples).reduce((sum, frame) => sum + frame, 0) * FRAME_S;
}

export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}
