// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { loadAddon } from '../../src/base/addon/addon.js';
import { packageDir } from '../../src/base/config/package-dir.js';

export const RATE_HZ = 16_000;
export const WAV_HEADER_BYTES = 44;

/** Alternating human and AI clips: mono, 16 bits, at RATE_HZ. */
export function speech(): Buffer {
  const clips = ['human-lj-a', 'ai-kokoro', 'human-vctk-p237', 'ai-wavenet-lj', 'human-lj-b'];
  const parts = clips.map((name) => {
    const file = path.join(packageDir, 'test/fixtures', `${name}.flac`);
    const { samples } = loadAddon().decode(fs.readFileSync(file));
    return Buffer.from(
      Int16Array.from(samples, (x) => Math.round(32767 * Math.max(-1, Math.min(1, x)))).buffer,
    );
  });
  return Buffer.concat(parts);
}

/** The header of a mono WAV file of 16 bits at RATE_HZ with this many bytes in all. */
export function wavHeader(bytes: number): Buffer {
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(bytes - 8, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(RATE_HZ, 24);
  header.writeUInt32LE(2 * RATE_HZ, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(bytes - WAV_HEADER_BYTES, 40);
  return header;
}

/** The speech over and over, in a WAV file of this many bytes. */
export function writeWav(file: string, bytes: number): void {
  const audio = speech();
  const out = fs.openSync(file, 'w');
  let done = fs.writeSync(out, wavHeader(bytes));
  while (done < bytes) done += fs.writeSync(out, audio, 0, Math.min(audio.length, bytes - done));
  fs.closeSync(out);
}

/** The speech over and over, in stereo at 44.1 kHz, in a FLAC file of about this many bytes. */
export function writeFlac(file: string, bytes: number): void {
  const raw = `${file}.raw`;
  fs.writeFileSync(raw, speech());
  const from = ['-stream_loop', '-1', '-f', 's16le', '-ar', String(RATE_HZ), '-ac', '1', '-i', raw];
  const to = ['-ar', '44100', '-ac', '2', '-compression_level', '0', '-fs', String(bytes), '-y', file];
  execFileSync('ffmpeg', ['-v', 'error', ...from, ...to]);
  fs.rmSync(raw);
}
