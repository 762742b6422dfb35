// SPDX-License-Identifier: Apache-2.0
//
// Recordings of three minutes, joined from short human clips, and the same with one sentence of another clip in the place of their
// own speech. Nothing but the voice gives a sentence away: it has the level of its surroundings and fades in and out with them, in a
// quiet moment.
import { readFileSync } from 'node:fs';
import { loadAddon } from '../../src/base/addon/addon.js';
import { shuffled } from './voiceid-trials.js';

export const RATE_HZ = 16_000;
const RECORDING_S = 180;
const MIN_CLIP_S = 1.2;
const LEVEL = 0.06;
const FADE = RATE_HZ / 100;
const FRAME = RATE_HZ / 100;
/** A sentence keeps away from both ends. */
const MARGIN_S = 8;
const QUIET_MOMENT_FRAMES = 40;

export interface ListedClip {
  readonly path: string;
  readonly label: string;
  readonly source: string;
  readonly speaker: string;
  readonly category: string;
  readonly system: string;
}

export interface Clip extends ListedClip {
  readonly samples: Float32Array;
}

export interface Host {
  /** That of the clips, or `mixed`. */
  readonly category: string;
  readonly sources: ReadonlySet<string>;
  readonly samples: Float32Array;
}

export interface Splice {
  readonly startS: number;
  readonly endS: number;
  readonly samples: Float32Array;
}

/** The sound of a clip at 16 kHz and the common level, without the silence around it; undefined if it is too short. */
export function soundOf(file: string): Float32Array | undefined {
  const addon = loadAddon();
  const { samples, sampleRateHz } = addon.decode(readFileSync(file));
  const sound =
    sampleRateHz === RATE_HZ ? samples : new addon.Resampler(sampleRateHz, RATE_HZ).convert(samples);
  const powers = powersOf(sound);
  const floor = 1e-4 * Math.max(...powers);
  const heard = (power: number): boolean => power > floor;
  const from = Math.max(0, powers.findIndex(heard) - 10) * FRAME;
  const to = (powers.findLastIndex(heard) + 11) * FRAME;
  const trimmed = sound.slice(from, to);
  if (trimmed.length < MIN_CLIP_S * RATE_HZ) return undefined;
  return scaled(trimmed, LEVEL / levelOf(trimmed));
}

/** Joins clips of a speaker as far as they go, then what is left of a source, of a category, and of all. */
export function hostsOf(clips: readonly Clip[]): Host[] {
  const hosts: Host[] = [];
  const fill = (groups: readonly (readonly Clip[])[], category: (clip: Clip) => string): Clip[] =>
    groups.flatMap((group) => {
      let part: Clip[] = [];
      for (const clip of group) {
        part.push(clip);
        if (part.reduce((sum, { samples }) => sum + samples.length, 0) < RECORDING_S * RATE_HZ) continue;
        hosts.push({
          category: category(clip),
          sources: new Set(part.map(({ source }) => source)),
          samples: joined(part.map(({ samples }) => samples)),
        });
        part = [];
      }
      return part;
    });
  const own = ({ category }: Clip): string => category || 'other';
  const bySpeaker = grouped(clips, (clip) => `${own(clip)} ${clip.source} ${clip.speaker}`);
  const bySource = grouped(fill(bySpeaker, own), (clip) => `${own(clip)} ${clip.source}`);
  const byCategory = grouped(fill(bySource, own), own);
  fill([fill(byCategory, own)], () => 'mixed');
  return hosts;
}

/** Puts the start of a sentence into a recording, in place of as much of its own speech. @param random 0..1 */
export function spliced(host: Host, sentence: Float32Array, lengthS: number, random: () => number): Splice {
  const length = Math.round(lengthS * RATE_HZ);
  const earliest = MARGIN_S * RATE_HZ;
  const latest = host.samples.length - earliest - length;
  const begin = quietestNear(host.samples, Math.round(earliest + random() * (latest - earliest)));
  const around = host.samples.subarray(begin - 5 * RATE_HZ, begin + 5 * RATE_HZ);
  const insert = scaled(sentence.slice(0, length), levelOf(around) / levelOf(sentence.subarray(0, length)));
  const samples = host.samples.slice();
  for (const [i, sample] of insert.entries()) {
    const share = Math.min(1, i / FADE, (length - 1 - i) / FADE);
    samples[begin + i] = share * sample + (1 - share) * (samples[begin + i] as number);
  }
  return { startS: begin / RATE_HZ, endS: (begin + length) / RATE_HZ, samples };
}

/** A part of the clip with speech in it; undefined if it has none of this length. */
export function sentenceOf(
  { samples }: Clip,
  lengthS: number,
  random: () => number,
): Float32Array | undefined {
  const length = Math.round(lengthS * RATE_HZ);
  if (samples.length < length) return undefined;
  const begin = Math.floor(random() * (samples.length - length));
  const part = samples.subarray(begin, begin + length);
  const floor = 1e-3 * Math.max(...powersOf(samples));
  const powers = powersOf(part);
  return 2 * powers.filter((power) => power > floor).length > powers.length ? part : undefined;
}

/** Of each group in turn, in random order. */
export function* inTurn(clips: readonly Clip[], random: () => number): Generator<Clip, void, void> {
  const groups = shuffled(
    grouped(clips, ({ system, source }) => system || source),
    random,
  ).map((group) => shuffled(group, random));
  for (let round = 0; ; round++) for (const group of groups) yield group[round % group.length] as Clip;
}

function grouped(clips: readonly Clip[], nameOf: (clip: Clip) => string): Clip[][] {
  const groups = new Map<string, Clip[]>();
  for (const clip of clips) groups.set(nameOf(clip), [...(groups.get(nameOf(clip)) ?? []), clip]);
  return [...groups.values()];
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const length = parts.reduce((sum, { length }) => sum + length - FADE, FADE);
  const all = new Float32Array(length);
  let at = 0;
  for (const part of parts) {
    for (const [i, sample] of part.entries()) {
      const share = at === 0 ? 1 : Math.min(1, i / FADE);
      const fading = Math.min(1, (part.length - 1 - i) / FADE);
      all[at + i] = (all[at + i] as number) + share * fading * sample;
    }
    at += part.length - FADE;
  }
  return all;
}

function quietestNear(samples: Float32Array, begin: number): number {
  const around = samples.subarray(begin - QUIET_MOMENT_FRAMES * FRAME, begin);
  const powers = powersOf(around);
  const smooth = powers.map((_, i) => powers.slice(Math.max(0, i - 2), i + 3).reduce((a, b) => a + b, 0));
  return begin - (QUIET_MOMENT_FRAMES - smooth.indexOf(Math.min(...smooth))) * FRAME;
}

function powersOf(samples: Float32Array): number[] {
  return Array.from({ length: Math.floor(samples.length / FRAME) }, (_, frame) => {
    const part = samples.subarray(frame * FRAME, (frame + 1) * FRAME);
    return part.reduce((sum, x) => sum + x * x, 0) / FRAME + 1e-12;
  });
}

/** Of the frames with sound. */
function levelOf(samples: Float32Array): number {
  const powers = powersOf(samples);
  const floor = 1e-4 * Math.max(...powers);
  const heard = powers.filter((power) => power > floor);
  return Math.sqrt(heard.reduce((a, b) => a + b, 0) / heard.length);
}

const scaled = (samples: Float32Array, factor: number): Float32Array => samples.map((x) => x * factor);
