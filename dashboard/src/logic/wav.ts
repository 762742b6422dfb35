// SPDX-License-Identifier: Apache-2.0

export interface WavFormat {
  readonly rateHz: number;
  readonly channels: number;
  readonly sampleBytes: 1 | 2 | 3 | 4 | 8;
  readonly isFloat: boolean;
  /** The beginning of the samples in the file. */
  readonly offset: number;
  readonly bytes: number;
}

/** Reads a part of the file; fewer bytes at its end. */
export type ReadPart = (offset: number, bytes: number) => Promise<ArrayBuffer>;

const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;
/** A writer that did not know the size has left one of these. */
const UNKNOWN_SIZES = [0, 0xffff_ffff];
const MAX_CHUNKS = 64;

const text = (view: DataView, at: number): string =>
  String.fromCharCode(...[0, 1, 2, 3].map((i) => view.getUint8(at + i)));

/**
 * Finds uncompressed samples in a WAV file without reading it.
 * @returns undefined if it is no such file
 */
export async function wavFormatOf(read: ReadPart, fileBytes: number): Promise<WavFormat | undefined> {
  const head = new DataView(await read(0, 12));
  if (head.byteLength < 12 || !['RIFF', 'RF64'].includes(text(head, 0)) || text(head, 8) !== 'WAVE') {
    return undefined;
  }
  let format: Omit<WavFormat, 'offset' | 'bytes'> | undefined;
  let at = 12;
  for (let chunks = 0; chunks < MAX_CHUNKS && at + 8 <= fileBytes; chunks++) {
    const chunk = new DataView(await read(at, 8 + 40));
    if (chunk.byteLength < 8) return undefined;
    const id = text(chunk, 0);
    const size = chunk.getUint32(4, true);
    if (id === 'fmt ') format = samplesOf(chunk);
    if (id === 'data') {
      const left = fileBytes - at - 8;
      const bytes = UNKNOWN_SIZES.includes(size) ? left : Math.min(size, left);
      return format === undefined ? undefined : { ...format, offset: at + 8, bytes };
    }
    at += 8 + size + (size % 2);
  }
  return undefined;
}

function samplesOf(chunk: DataView): Omit<WavFormat, 'offset' | 'bytes'> | undefined {
  if (chunk.byteLength < 24) return undefined;
  let kind = chunk.getUint16(8, true);
  if (kind === EXTENSIBLE && chunk.byteLength >= 34) kind = chunk.getUint16(32, true);
  const channels = chunk.getUint16(10, true);
  const rateHz = chunk.getUint32(12, true);
  const sampleBytes = chunk.getUint16(22, true) / 8;
  const isFloat = kind === FLOAT;
  const sizes: readonly number[] = isFloat ? [4, 8] : [1, 2, 3, 4];
  if (![PCM, FLOAT].includes(kind) || !sizes.includes(sampleBytes) || channels < 1 || rateHz < 1)
    return undefined;
  return { rateHz, channels, sampleBytes: sampleBytes as WavFormat['sampleBytes'], isFloat };
}

export const frameBytesOf = ({ channels, sampleBytes }: WavFormat): number => channels * sampleBytes;

export const durationOf = (format: WavFormat): number => format.bytes / frameBytesOf(format) / format.rateHz;

/** The mean of the channels, -1..1. @param part whole frames; a rest at its end is not read */
export function monoOf(part: ArrayBuffer, format: WavFormat): Float32Array {
  const { channels, sampleBytes } = format;
  const frames = Math.floor(part.byteLength / frameBytesOf(format));
  const mono = new Float32Array(frames);
  const sample = readerOf(new DataView(part), format);
  for (let frame = 0, at = 0; frame < frames; frame++) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++, at += sampleBytes) sum += sample(at);
    mono[frame] = sum / channels;
  }
  return mono;
}

function readerOf(view: DataView, { sampleBytes, isFloat }: WavFormat): (at: number) => number {
  if (isFloat) {
    return sampleBytes === 4 ? (at) => view.getFloat32(at, true) : (at) => view.getFloat64(at, true);
  }
  switch (sampleBytes) {
    case 1:
      return (at) => (view.getUint8(at) - 128) / 128;
    case 2:
      return (at) => view.getInt16(at, true) / 32_768;
    case 3:
      return (at) => (view.getUint16(at, true) + view.getInt8(at + 2) * 65_536) / 8_388_608;
    default:
      return (at) => view.getInt32(at, true) / 2_147_483_648;
  }
}
