// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { packageDir } from '../../../src/base/config/package-dir.js';

export const RATE_HZ = 16_000;

/** ffmpeg decodes, so that the server's own decoder does not judge itself. */
function decoded(...fixtures: string[]): Int16Array {
  const parts = fixtures.map((name) => {
    const file = path.join(packageDir, 'test/fixtures', name);
    const output = ['-f', 's16le', '-ac', '1', '-ar', String(RATE_HZ), '-'];
    const bytes = execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-i', file, ...output], {
      maxBuffer: 64 << 20,
    });
    return new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  });
  return joined(...parts);
}

const once = <Value>(make: () => Value): (() => Value) => {
  let made: { value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};

const humanClip = once(() => decoded('human-lj-a.flac', 'human-lj-b.flac'));
const sameHumanClip = once(() => decoded('human-lj-b.flac'));
const otherHumanClip = once(() => decoded('human-vctk-p237.flac'));
// The last five seconds, so that every window of a loop is alike.
const vocodedClip = once(() => decoded('ai-wavenet-lj.flac').slice(-samplesIn(5)));
const spokenTextClip = once(() => decoded('ai-kokoro.flac').slice(-samplesIn(5)));

/** A woman reading; her clips are repeated to this length. */
export const human = (seconds: number): Int16Array => repeated(humanClip(), samplesIn(seconds));
/** The second clip of the same woman. */
export const sameHuman = (seconds: number): Int16Array => repeated(sameHumanClip(), samplesIn(seconds));
/** A man reading. */
export const otherHuman = (seconds: number): Int16Array => repeated(otherHumanClip(), samplesIn(seconds));
/** A neural vocoder with the woman's voice. */
export const aiGenerated = (seconds: number): Int16Array => repeated(vocodedClip(), samplesIn(seconds));
/** Text to speech. */
export const spokenText = (seconds: number): Int16Array => repeated(spokenTextClip(), samplesIn(seconds));
export const silence = (seconds: number): Int16Array => new Int16Array(samplesIn(seconds));

export const samplesIn = (seconds: number): number => Math.round(seconds * RATE_HZ);

function repeated(samples: Int16Array, count: number): Int16Array {
  const result = new Int16Array(count);
  for (let at = 0; at < count; at += samples.length) result.set(samples.subarray(0, count - at), at);
  return result;
}

export function joined(...parts: readonly Int16Array[]): Int16Array {
  const result = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    result.set(part, at);
    at += part.length;
  }
  return result;
}
