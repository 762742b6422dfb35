// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
// @ts-expect-error A script without types.
import { makeMedia } from '../../../../../scripts/make-media.mjs';
import { packageDir } from '../../../src/base/config/package-dir.js';

export interface SeedFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Recordings to make inputs from, by the length that routes require. */
export interface SeedFiles {
  /** 1.3 s, in every container and codec. */
  readonly short: readonly SeedFile[];
  /** 3.2 s, the minimum of v0. */
  readonly legacy: readonly SeedFile[];
  /** 10.2 s, the minimum of enrolment. */
  readonly voice: readonly SeedFile[];
}

const clip = join(packageDir, 'test/fixtures/human-lj-a.flac');
const mediaDir = join(packageDir, 'build/media');
const shortS = 1.3;

const at = (rateHz: number, channels: number) => ['-ar', String(rateHz), '-ac', String(channels)];

/** Less common codecs: [file, options]. */
const lessCommon: readonly (readonly [string, readonly string[]])[] = [
  ['u8.wav', [...at(8000, 1), '-c:a', 'pcm_u8']],
  ['s24.wav', [...at(16000, 2), '-c:a', 'pcm_s24le']],
  ['f32.wav', [...at(16000, 1), '-c:a', 'pcm_f32le']],
  ['f64.wav', [...at(8000, 1), '-c:a', 'pcm_f64le']],
  ['alaw.wav', [...at(8000, 1), '-c:a', 'pcm_alaw']],
  ['mulaw.wav', [...at(8000, 1), '-c:a', 'pcm_mulaw']],
  ['gsm.wav', [...at(8000, 1), '-c:a', 'libgsm_ms']],
  ['adpcm-ms.wav', [...at(22050, 2), '-c:a', 'adpcm_ms']],
  ['adpcm-ima.wav', [...at(22050, 2), '-c:a', 'adpcm_ima_wav']],
  ['mp3-inside.wav', [...at(16000, 1), '-c:a', 'libmp3lame']],
  ['rf64.wav', [...at(8000, 1), '-c:a', 'pcm_s16le', '-rf64', 'always']],
  ['tagged.wav', [...at(8000, 1), '-c:a', 'pcm_s16le', '-metadata', 'title=odd', '-write_bext', '1']],
  ['no-xing.mp3', [...at(16000, 1), '-c:a', 'libmp3lame', '-write_xing', '0', '-id3v2_version', '0']],
  ['vbr.mp3', [...at(44100, 2), '-c:a', 'libmp3lame', '-q:a', '6']],
  ['layer2.mp2', [...at(16000, 1), '-c:a', 'mp2']],
  ['24-bit.flac', [...at(16000, 1), '-c:a', 'flac', '-sample_fmt', 's32', '-bits_per_raw_sample', '24']],
  ['flac.ogg', [...at(16000, 1), '-c:a', 'flac']],
  [
    'fragmented.mp4',
    [...at(16000, 1), '-c:a', 'aac', '-movflags', 'frag_keyframe+empty_moov', '-frag_duration', '300000'],
  ],
  ['faststart.m4a', [...at(16000, 1), '-c:a', 'aac', '-movflags', 'faststart']],
  ['mp3-inside.mp4', [...at(16000, 1), '-c:a', 'libmp3lame']],
  ['opus-inside.mp4', [...at(48000, 2), '-c:a', 'libopus', '-strict', '-2']],
  ['flac-inside.mp4', [...at(16000, 1), '-c:a', 'flac', '-strict', '-2']],
  ['adpcm-ima.mov', [...at(22050, 2), '-c:a', 'adpcm_ima_qt']],
  ['u8.mov', [...at(8000, 1), '-c:a', 'pcm_u8']],
  ['pcm.avi', [...at(8000, 1), '-c:a', 'pcm_s16le']],
  ['aac.avi', [...at(16000, 1), '-c:a', 'aac']],
  ['ac3.mkv', [...at(48000, 6), '-c:a', 'ac3']],
  ['eac3.mkv', [...at(48000, 2), '-c:a', 'eac3']],
  ['pcm-s24.mkv', [...at(8000, 1), '-c:a', 'pcm_s24le']],
  ['opus.mkv', [...at(48000, 1), '-c:a', 'libopus', '-b:a', '16k']],
];

const compact: readonly (readonly [string, readonly string[]])[] = [
  ['a.mp3', [...at(16000, 1), '-c:a', 'libmp3lame', '-b:a', '24k']],
  ['a.opus', [...at(16000, 1), '-c:a', 'libopus', '-b:a', '12k']],
  ['a.m4a', [...at(16000, 1), '-c:a', 'aac', '-b:a', '24k']],
  ['a.webm', [...at(16000, 1), '-c:a', 'libopus', '-b:a', '12k']],
  ['a.wav', [...at(8000, 1), '-c:a', 'adpcm_ima_wav']],
];

/** One run of FFmpeg for all of them. Omits version and time, so that an index keeps its meaning. */
function encode(folder: string, seconds: number, files: typeof lessCommon): SeedFile[] {
  mkdirSync(folder, { recursive: true });
  const outputs = files.flatMap(([name, options]) => [
    ...['-map', '0:a', '-t', String(seconds), '-bitexact', '-fflags', '+bitexact'],
    ...options,
    join(folder, name),
  ]);
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', '-stream_loop', '-1', '-i', clip, ...outputs]);
  return files.map(([name]) => read(join(folder, name)));
}

const read = (file: string): SeedFile => ({ name: basename(file), bytes: readFileSync(file) });

/** @param folder for files that need not be kept */
export async function makeSeedFiles(folder: string): Promise<SeedFiles> {
  const common: readonly { file: string }[] = await makeMedia({
    clip,
    directory: mediaDir,
    seconds: shortS,
    rates: [16000, 48000],
    layouts: ['mono', 'stereo'],
  });
  return {
    short: [...common.map(({ file }) => read(file)), ...encode(join(folder, 'short'), shortS, lessCommon)],
    legacy: encode(join(folder, 'legacy'), 3.2, compact),
    voice: encode(
      join(folder, 'voice'),
      10.2,
      compact.filter(([name]) => name !== 'a.webm'),
    ),
  };
}
