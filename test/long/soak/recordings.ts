// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageDir } from '../../../src/base/config/package-dir.js';

export interface Recordings {
  /** 2 to 9 s, of several voices, in common formats. */
  readonly short: readonly Buffer[];
  /** 12 s of one human voice: for enrolment, verification and v0. */
  readonly voice: Buffer;
  /** Over 5 MB. */
  readonly large: Buffer;
  /** Not a recording. */
  readonly bad: readonly Buffer[];
}

const clips = ['human-lj-a.flac', 'human-vctk-p237.flac', 'ai-kokoro.flac', 'ai-wavenet-lj.flac'];
const formats = [
  ['wav', 'pcm_s16le'],
  ['mp3', 'libmp3lame'],
  ['m4a', 'aac'],
  ['opus', 'libopus'],
  ['flac', 'flac'],
  ['webm', 'libopus'],
] as const;

export function makeRecordings(folder: string): Recordings {
  mkdirSync(folder, { recursive: true });
  const fixture = (name: string) => join(packageDir, 'test/fixtures', name);
  const encode = (clip: string, name: string, ...options: string[]): Buffer => {
    const file = join(folder, name);
    const input = ['-stream_loop', '-1', '-i', fixture(clip)];
    execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...input, ...options, file]);
    return readFileSync(file);
  };
  const short = clips.flatMap((clip, i) =>
    formats.map(([ending, codec], j) =>
      encode(
        clip,
        `${i}.${ending}`,
        '-t',
        String(2 + ((i * 3 + j) % 8)),
        '-ac',
        '1',
        '-ar',
        '48000',
        '-c:a',
        codec,
      ),
    ),
  );
  const voice = encode('human-lj-a.flac', 'voice.wav', '-t', '12', '-ar', '16000', '-ac', '1');
  const large = encode('human-lj-b.flac', 'large.wav', '-fs', '5300000', '-ar', '16000', '-ac', '1');
  const bad = [
    Buffer.from('This is no recording.'),
    voice.subarray(0, 44),
    Buffer.alloc(100_000),
    Buffer.concat([voice.subarray(0, 20), Buffer.alloc(5000, 0xff), voice.subarray(20)]),
    ...short.slice(0, 6).map((bytes) => bytes.subarray(0, Math.floor(bytes.length / 3))),
  ];
  return { short, voice, large, bad };
}
