// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process';
import path from 'node:path';

/** Runs FFmpeg into a folder: the last argument names the result, and its ending sets the format. */
export const ffmpegInto =
  (folder: string) =>
  (input: string, args: readonly string[]): string => {
    const output = path.join(folder, args.at(-1) as string);
    execFileSync('ffmpeg', ['-v', 'error', '-y', '-i', input, ...args.slice(0, -1), output]);
    return output;
  };

/** Makes files by name, each with its options, in one run of FFmpeg: most of a run is its start. */
export function ffmpegMany(
  folder: string,
  input: string,
  files: Readonly<Record<string, readonly string[]>>,
): void {
  const outputs = Object.entries(files).flatMap(([name, options]) => [...options, path.join(folder, name)]);
  execFileSync('ffmpeg', ['-v', 'error', '-y', '-i', input, ...outputs]);
}

/** The file as FFmpeg writes it to a pipe, where no header can be corrected at the end. */
export const pipedByFfmpeg = (input: string, ...args: readonly string[]): Buffer =>
  execFileSync('ffmpeg', ['-v', 'error', '-i', input, ...args, 'pipe:1']);

export const powerOf = (signal: Float32Array): number =>
  signal.reduce((sum, x) => sum + x * x, 0) / signal.length;

/**
 * The samples at half their level, with the noise `snrDb` below a power.
 * @param noise as long as the samples
 */
export function withNoise(
  samples: Float32Array,
  noise: Float32Array,
  snrDb: number,
  power: number,
): Float32Array {
  const gain = Math.sqrt(power / powerOf(noise) / 10 ** (snrDb / 10));
  return samples.map((x, i) => 0.5 * (x + gain * (noise[i] as number)));
}

/**
 * Uniform noise through a low-pass of one pole.
 * @param pole 0 for white noise, towards 1 for dull
 * @param random gives 0..1
 */
export function noise(length: number, pole: number, random: () => number): Float32Array {
  const samples = new Float32Array(length);
  let before = 0;
  for (let i = 0; i < length; i++) {
    before = pole * before + (1 - pole) * (2 * random() - 1);
    samples[i] = before;
  }
  return samples;
}
