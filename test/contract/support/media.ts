// SPDX-License-Identifier: Apache-2.0
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const video = ['-f', 'lavfi', '-i', 'color=size=64x64:rate=5:duration=6'];
const withVideo = ['-c:v', 'mpeg4', '-shortest'];

export interface Format {
  readonly name: string;
  readonly extension: string;
  /** ffmpeg arguments for writing it; the audio is its first input. */
  readonly options: readonly string[];
  readonly hasVideo?: true;
}

/** Formats of voice samples, 4.5 and 4.6. */
export const audioFormats: readonly Format[] = [
  { name: 'WAV', extension: 'wav', options: ['-c:a', 'pcm_s16le'] },
  { name: 'MP3', extension: 'mp3', options: ['-c:a', 'libmp3lame', '-b:a', '128k'] },
  { name: 'AAC', extension: 'aac', options: ['-c:a', 'aac', '-b:a', '128k'] },
  { name: 'FLAC', extension: 'flac', options: ['-c:a', 'flac'] },
  { name: 'OGG', extension: 'ogg', options: ['-c:a', 'libvorbis', '-q:a', '6'] },
  { name: 'M4A', extension: 'm4a', options: ['-c:a', 'aac', '-b:a', '128k'] },
];

/** All ten formats of 4.1. */
export const formats: readonly Format[] = [
  ...audioFormats,
  { name: 'MP4', extension: 'mp4', options: ['-c:a', 'aac', ...withVideo], hasVideo: true },
  { name: 'MOV', extension: 'mov', options: ['-c:a', 'pcm_s16le', ...withVideo], hasVideo: true },
  { name: 'AVI', extension: 'avi', options: ['-c:a', 'libmp3lame', ...withVideo], hasVideo: true },
  { name: 'MKV', extension: 'mkv', options: ['-c:a', 'aac', ...withVideo], hasVideo: true },
];

/** The WAV file in another format. */
export function encoded(audio: Buffer, format: Format): Promise<Buffer> {
  return ffmpeg(audio, format.extension, [...(format.hasVideo ? video : []), ...format.options]);
}

/** A video in the format, without any audio. */
export function videoOnly(extension: string): Promise<Buffer> {
  return ffmpeg(undefined, extension, [...video, '-c:v', 'mpeg4']);
}

/** Uses files, because ffmpeg must seek in its output for most containers. */
async function ffmpeg(
  audio: Buffer | undefined,
  extension: string,
  options: readonly string[],
): Promise<Buffer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'veravox-contract-media-'));
  try {
    const [input, output] = [path.join(folder, 'input.wav'), path.join(folder, `output.${extension}`)];
    if (audio !== undefined) await writeFile(input, audio);
    const inputs = audio === undefined ? [] : ['-i', input];
    await promisify(execFile)('ffmpeg', ['-nostdin', '-v', 'error', ...inputs, ...options, output]);
    return await readFile(output);
  } finally {
    await rm(folder, { recursive: true });
  }
}
