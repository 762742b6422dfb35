// SPDX-License-Identifier: Apache-2.0
import type { Random } from './random.js';

const extremes = [
  0, 1, 0xff, 0x7fff, 0xffff, 0x10000, 0xffffff, 0x40000000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
];

/** Tags next to sizes and counts in the containers. */
const tags = [
  ...['RIFF', 'RF64', 'ds64', 'fmt ', 'data', 'LIST', 'AVI ', 'hdrl', 'strh', 'strf', 'movi', 'idx1', 'bext'],
  ...['ftyp', 'moov', 'mvhd', 'trak', 'tkhd', 'mdia', 'mdhd', 'hdlr', 'minf', 'stbl', 'stsd', 'stts', 'stsc'],
  ...['stsz', 'stco', 'co64', 'esds', 'mdat', 'moof', 'traf', 'trun', 'tfhd', 'elst', 'mp4a', 'alac', 'sowt'],
  ...[
    'OggS',
    'OpusHead',
    'OpusTags',
    '\x01vorbis',
    '\x03vorbis',
    '\x05vorbis',
    'fLaC',
    'ID3',
    'TAG',
    'Xing',
    'Info',
  ],
  // EBML: header, segment, info, tracks, cluster, simple block, block group, codec private, lacing flags.
  ...['\x1a\x45\xdf\xa3', '\x18\x53\x80\x67', '\x15\x49\xa9\x66', '\x16\x54\xae\x6b', '\x1f\x43\xb6\x75'],
  ...['\xa3', '\xa0', '\x63\xa2', '\x9c'],
].map((tag) => Buffer.from(tag, 'latin1'));

type Step = (bytes: Buffer, random: Random, others: readonly Buffer[]) => Buffer;

/** Most decisive bytes come first. */
function place(bytes: Buffer, random: Random): number {
  const reach = random.weighted([
    [3, 256],
    [3, 2048],
    [4, bytes.length],
  ]);
  return random.below(Math.min(reach, bytes.length));
}

const replaced = (bytes: Buffer, from: number, to: number, middle: Uint8Array): Buffer =>
  Buffer.concat([bytes.subarray(0, from), middle, bytes.subarray(to)]);

function writeNumber(bytes: Buffer, random: Random, at: number): Buffer {
  const width = random.pick([1, 2, 4, 4, 4, 8]);
  const value = random.pick(extremes);
  const number = Buffer.from(Array.from({ length: width }, (_, i) => (i < 4 ? value >>> (8 * i) : 0)));
  if (random.chance(0.5)) number.reverse();
  number.copy(bytes, at);
  return bytes;
}

const steps: readonly (readonly [number, Step])[] = [
  [
    4,
    (bytes, random) => {
      const at = place(bytes, random);
      bytes[at] = (bytes[at] as number) ^ (1 << random.below(8));
      return bytes;
    },
  ],
  [3, (bytes, random) => writeNumber(bytes, random, place(bytes, random))],
  [
    4,
    function editSizeField(bytes, random) {
      const at = bytes.indexOf(random.pick(tags), random.chance(0.7) ? 0 : random.below(bytes.length));
      if (at < 0) return writeNumber(bytes, random, place(bytes, random));
      // Sizes stand before the tag in MP4 and after it elsewhere, counts a few bytes further on.
      return writeNumber(
        bytes,
        random,
        Math.max(0, at + random.pick([-4, 4, 4, 4, 5, 6, 8, 8, 12, 16, 20, 24])),
      );
    },
  ],
  [2, (bytes, random) => bytes.subarray(0, 1 + random.below(bytes.length))],
  [
    2,
    function cutOut(bytes, random) {
      const at = place(bytes, random);
      return replaced(bytes, at, at + 1 + random.below(4096), Buffer.alloc(0));
    },
  ],
  [
    2,
    function repeat(bytes, random) {
      const at = place(bytes, random);
      return replaced(bytes, at, at, bytes.subarray(at, at + 1 + random.below(4096)));
    },
  ],
  [
    2,
    function insertNoise(bytes, random) {
      const at = place(bytes, random);
      return replaced(bytes, at, at, random.bytes(random.below(64)));
    },
  ],
  [
    3,
    function splice(bytes, random, others) {
      const other = random.pick(others);
      const from = random.below(other.length);
      const at = place(bytes, random);
      const piece = other.subarray(from, from + 1 + random.below(2048));
      return replaced(bytes, at, random.chance(0.5) ? at : at + piece.length, piece);
    },
  ],
  [
    2,
    function flood(bytes, random) {
      const at = place(bytes, random);
      return bytes.fill(
        random.pick([0, 0xff, 0x7f, 0x80, random.below(256)]),
        at,
        Math.min(bytes.length, at + random.below(512)),
      );
    },
  ],
  [
    2,
    function overwriteWithNoise(bytes, random) {
      random.bytes(1 + random.below(16)).copy(bytes, place(bytes, random));
      return bytes;
    },
  ],
  [
    1,
    function swapHalves(bytes, random) {
      const at = place(bytes, random);
      return Buffer.concat([bytes.subarray(at), bytes.subarray(0, at)]);
    },
  ],
];

/** A damaged copy. @param others sources of inserted pieces */
export function mutateBytes(original: Buffer, random: Random, others: readonly Buffer[]): Buffer {
  let bytes: Buffer = Buffer.from(original);
  const count = 1 + random.below(random.chance(0.3) ? 20 : 4);
  for (let i = 0; i < count && bytes.length > 0; i++) {
    bytes = Buffer.from(random.weighted(steps)(bytes, random, others));
  }
  return bytes;
}
