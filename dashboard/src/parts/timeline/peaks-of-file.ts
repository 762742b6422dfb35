// SPDX-License-Identifier: Apache-2.0
import { endOfTag, mp3RunIn } from '../../logic/mp3-frames.js';
import { type Peaks, PeaksBuilder } from '../../logic/peaks.js';
import {
  durationOf,
  frameBytesOf,
  monoOf,
  type ReadPart,
  type WavFormat,
  wavFormatOf,
} from '../../logic/wav.js';

/** Bytes read at once: a few milliseconds of work, between which the page answers its reader. */
const SLICE_BYTES = 1 << 20;
/** About half a minute, which a browser decodes into some 10 MB. */
const MP3_SLICE_BYTES = 1 << 18;
/** A tag with a picture may be longer; then a few frames of it are no run. */
const MP3_HEAD_BYTES = 1 << 16;
/** Browsers decode other formats only as a whole: at 48 kHz and in stereo, that is 23 MB per minute. */
const MAX_WHOLE_S = 5 * 60;
const MAX_WHOLE_BYTES = 64 << 20;
/** Enough for the visible detail. */
const DECODED_RATE_HZ = 8000;

/** Why there is no waveform, in words. */
export class NoWaveform extends Error {}

const undecodable = (): NoWaveform =>
  new NoWaveform('There is no waveform: this browser cannot decode the recording. The server can.');

/**
 * The peaks of a recording in the page, in memory that does not grow with its length: WAV and MP3 are read in slices, other formats
 * as a whole and only if they are short.
 * @param durationS about; later samples are left out
 * @throws NoWaveform; the signal's reason
 */
export async function peaksOfFile(file: Blob, durationS: number, signal: AbortSignal): Promise<Peaks> {
  const read: ReadPart = (offset, bytes) => file.slice(offset, offset + bytes).arrayBuffer();
  const format = await wavFormatOf(read, file.size);
  signal.throwIfAborted();
  if (format !== undefined) return wavPeaks(read, format, signal);
  const start = await mp3StartIn(read);
  signal.throwIfAborted();
  if (start !== undefined) return mp3Peaks(read, start, file.size, durationS, signal);
  if (durationS > MAX_WHOLE_S || file.size > MAX_WHOLE_BYTES) {
    throw new NoWaveform(
      'There is no waveform: it is drawn for WAV and MP3 of any length, and for other formats up to 5 minutes.',
    );
  }
  const builder = new PeaksBuilder(durationS + 1, DECODED_RATE_HZ);
  const samples = await decoded(await file.arrayBuffer());
  signal.throwIfAborted();
  if (samples === undefined) throw undecodable();
  builder.add(samples);
  return builder.done();
}

async function wavPeaks(read: ReadPart, format: WavFormat, signal: AbortSignal): Promise<Peaks> {
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

/** The beginning of the audio of an MP3 file; undefined for other files. */
async function mp3StartIn(read: ReadPart): Promise<number | undefined> {
  const start = endOfTag(new Uint8Array(await read(0, 10)));
  const run = mp3RunIn(new Uint8Array(await read(start, MP3_HEAD_BYTES)));
  // Chance finds something that looks like frames in any file, but not at its beginning.
  return run?.start === 0 || (start > 0 && run !== undefined) ? start + run.start : undefined;
}

async function mp3Peaks(
  read: ReadPart,
  start: number,
  fileBytes: number,
  durationS: number,
  signal: AbortSignal,
): Promise<Peaks> {
  const builder = new PeaksBuilder(durationS + 1, DECODED_RATE_HZ);
  let readS = 0;
  let added = 0;
  let isHeard = false;
  for (let at = start; at < fileBytes; ) {
    const slice = new Uint8Array(await read(at, MP3_SLICE_BYTES));
    signal.throwIfAborted();
    const run = mp3RunIn(slice);
    if (run === undefined) {
      // Damaged parts are passed over.
      at += slice.length;
      continue;
    }
    const samples = await decoded(slice.slice(run.start, run.end).buffer);
    signal.throwIfAborted();
    at += run.end;
    readS += run.samples / run.rateHz;
    isHeard ||= samples !== undefined;
    // A slice may come out some samples too short: the next one begins where it should.
    const wanted = Math.round(readS * DECODED_RATE_HZ) - added;
    const fitted = new Float32Array(wanted);
    fitted.set((samples ?? fitted).subarray(0, wanted));
    builder.add(fitted);
    added += wanted;
  }
  if (!isHeard) throw undecodable();
  return builder.done();
}

/** The mean of the channels; undefined if the browser cannot decode it. */
async function decoded(encoded: ArrayBuffer): Promise<Float32Array | undefined> {
  const context = new OfflineAudioContext(1, 1, DECODED_RATE_HZ);
  const audio = await context.decodeAudioData(encoded).catch(() => undefined);
  if (audio === undefined) return undefined;
  const mono = audio.getChannelData(0);
  for (let channel = 1; channel < audio.numberOfChannels; channel++) {
    const samples = audio.getChannelData(channel);
    for (let i = 0; i < mono.length; i++) mono[i] = (mono[i] as number) + (samples[i] as number);
  }
  if (audio.numberOfChannels > 1) {
    for (let i = 0; i < mono.length; i++) mono[i] = (mono[i] as number) / audio.numberOfChannels;
  }
  return mono;
}
