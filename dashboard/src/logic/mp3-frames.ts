// SPDX-License-Identifier: Apache-2.0
//
// The frames of an MP3 file: a few of them can be decoded without the others.

export interface Mp3Frame {
  readonly bytes: number;
  readonly samples: number;
  readonly rateHz: number;
}

/** Frames that follow each other. */
export interface Mp3Run {
  /** Places in the bytes that were searched. */
  readonly start: number;
  readonly end: number;
  readonly samples: number;
  readonly rateHz: number;
}

const HEADER_BYTES = 4;
const MPEG_1 = 3;
const RESERVED_VERSION = 1;
const LAYER_3 = 1;
const kilobits1 = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const kilobits2 = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const rates1Hz = [44_100, 48_000, 32_000];

/** @returns undefined if no frame begins there */
export function mp3FrameAt(bytes: Uint8Array, at: number): Mp3Frame | undefined {
  const [sync = 0, kind = 0, rate = 0] = bytes.subarray(at, at + HEADER_BYTES - 1);
  const version = (kind >> 3) & 3;
  const isLayer3 = ((kind >> 1) & 3) === LAYER_3;
  if (sync !== 0xff || (kind & 0xe0) !== 0xe0 || !isLayer3 || version === RESERVED_VERSION) return undefined;
  const isMpeg1 = version === MPEG_1;
  const kilobits = (isMpeg1 ? kilobits1 : kilobits2)[(rate >> 4) - 1];
  const fullRateHz = rates1Hz[(rate >> 2) & 3];
  if (kilobits === undefined || fullRateHz === undefined) return undefined;
  const rateHz = isMpeg1 ? fullRateHz : version === 2 ? fullRateHz / 2 : fullRateHz / 4;
  const samples = isMpeg1 ? 1152 : 576;
  const padding = (rate >> 1) & 1;
  return { bytes: Math.floor(((samples / 8) * kilobits * 1000) / rateHz) + padding, samples, rateHz };
}

/** The beginning of the audio after a tag. @param head at least the first ten bytes */
export function endOfTag(head: Uint8Array): number {
  const isTag = head.length >= 10 && head[0] === 0x49 && head[1] === 0x44 && head[2] === 0x33;
  return isTag ? 10 + head.subarray(6, 10).reduce((size, byte) => size * 128 + (byte & 127), 0) : 0;
}

/**
 * The first run of whole frames in the bytes.
 * @returns undefined if there are no two frames in a row
 */
export function mp3RunIn(bytes: Uint8Array): Mp3Run | undefined {
  for (let start = 0; start + HEADER_BYTES <= bytes.length; start++) {
    if (bytes[start] !== 0xff) continue;
    const run = runFrom(bytes, start);
    if (run !== undefined) return run;
  }
  return undefined;
}

function runFrom(bytes: Uint8Array, start: number): Mp3Run | undefined {
  let end = start;
  let frames = 0;
  let samples = 0;
  let rateHz = 0;
  for (let frame = mp3FrameAt(bytes, start); frame !== undefined; frame = mp3FrameAt(bytes, end)) {
    const isOther = frames > 0 && frame.rateHz !== rateHz;
    if (isOther || end + frame.bytes > bytes.length) break;
    end += frame.bytes;
    frames++;
    samples += frame.samples;
    rateHz = frame.rateHz;
  }
  // One may be chance.
  return frames < 2 ? undefined : { start, end, samples, rateHz };
}
