// SPDX-License-Identifier: Apache-2.0
import type { CodedSound } from '../../base/addon/addon.js';
import type { DetectionModel } from './manifest.js';

export type CodecTables = DetectionModel['calibration']['codecs'];

/**
 * The offset that a detector's calibration adds to the log-odds of sound coded like this: linear between the points over the
 * logarithm of the rate, and beyond them as at the nearest one. 0 without a table.
 */
export function codecOffset(tables: CodecTables, { codec, codedBitsPerS = 0 }: CodedSound): number {
  const points = codec === undefined ? undefined : tables?.[codec];
  if (points === undefined) return 0;
  // -1 behind all of them: then the last one is the nearest.
  const next = points.findIndex(([bitsPerS]) => codedBitsPerS <= bitsPerS);
  const [rate, offset] = points.at(next) as readonly [number, number];
  const before = points[next - 1];
  if (before === undefined) return offset;
  const share = Math.log(codedBitsPerS / before[0]) / Math.log(rate / before[0]);
  return before[1] + share * (offset - before[1]);
}
