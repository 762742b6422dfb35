// SPDX-License-Identifier: Apache-2.0
import { type Peaks, PeaksBuilder } from '../../logic/peaks.js';
import { durationOf, frameBytesOf, monoOf, type WavFormat, wavFormatOf } from '../../logic/wav.js';

/** What is read at once: a few milliseconds of work, between which the page answers its reader. */
const SLICE_BYTES = 1 << 20;
const SLICE_SAMPLES = 1 << 19;
/** A browser decodes into memory, 4 bytes per sample and channel, before it lowers the rate. */
const MAX_DECODED_S = 30 * 60;
/** Enough for what is seen. */
const DECODED_RATE_HZ = 8000;
/** Of files that do not tell their duration. */
const MAX_UNKNOWN_BYTES = 32 << 20;

/** Why there is no waveform, in words. */
export class NoWaveform extends Error {}

/**
 * The peaks of a recording in the page. Uncompressed WAV is read in slices, whatever its length; other formats are decoded by the
 * browser.
 * @throws NoWaveform; the signal's reason
 */
export async function peaksOfFile(file: Blob, signal: AbortSignal): Promise<Peaks> {
  const read = (offset: number, bytes: number): Promise<ArrayBuffer> =>
    file.slice(offset, offset + bytes).arrayBuffer();
  const format = await wavFormatOf(read, file.size);
  return format === undefined ? decodedPeaks(file, signal) : wavPeaks(read, format, signal);
}

async function wavPeaks(
  read: (offset: number, bytes: number) => Promise<ArrayBuffer>,
  format: WavFormat,
  signal: AbortSignal,
): Promise<Peaks> {
  const frameBytes = frameBytesOf(format);
  const sliceBytes = Math.max(1, Math.floor(SLICE_BYTES / frameBytes)) * frameBytes;
  const builder = new PeaksBuilder(durationOf(format), format.rateHz);
  for (let at = 0; at < format.bytes; at += sliceBytes) {
    // Each slice comes in a task of its own, so that the page stays alive.
    const slice = await read(format.offset + at, Math.min(sliceBytes, format.bytes - at));
    signal.throwIfAborted();
    builder.add(monoOf(slice, format));
  }
  return builder.done();
}

async function decodedPeaks(file: Blob, signal: AbortSignal): Promise<Peaks> {
  const durationS = await durationIn(file, signal);
  const isLong = Number.isFinite(durationS) ? durationS > MAX_DECODED_S : file.size > MAX_UNKNOWN_BYTES;
  if (isLong) {
    throw new NoWaveform(
      'There is no waveform: it is drawn for WAV files of any length, and for other formats up to 30 minutes.',
    );
  }
  const context = new OfflineAudioContext(1, 1, DECODED_RATE_HZ);
  const encoded = await file.arrayBuffer();
  signal.throwIfAborted();
  const audio = await context.decodeAudioData(encoded).catch(() => {
    throw new NoWaveform('There is no waveform: this browser cannot decode the recording. The server can.');
  });
  const builder = new PeaksBuilder(audio.duration, audio.sampleRate);
  const mono = new Float32Array(SLICE_SAMPLES);
  for (let from = 0; from < audio.length; from += SLICE_SAMPLES) {
    const length = Math.min(SLICE_SAMPLES, audio.length - from);
    mono.fill(0);
    for (let channel = 0; channel < audio.numberOfChannels; channel++) {
      const samples = audio.getChannelData(channel);
      for (let i = 0; i < length; i++)
        mono[i] = (mono[i] as number) + (samples[from + i] as number) / audio.numberOfChannels;
    }
    builder.add(mono.subarray(0, length));
    await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
  }
  return builder.done();
}

/** Infinity if the file does not tell; 0 if the browser does not know the format: decoding will say so. */
function durationIn(file: Blob, signal: AbortSignal): Promise<number> {
  const address = URL.createObjectURL(file);
  const audio = new Audio();
  const known = new Promise<number>((resolve, reject) => {
    audio.onloadedmetadata = () => resolve(audio.duration);
    audio.onerror = () => resolve(0);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  audio.preload = 'metadata';
  audio.src = address;
  return known.finally(() => {
    audio.removeAttribute('src');
    URL.revokeObjectURL(address);
  });
}
