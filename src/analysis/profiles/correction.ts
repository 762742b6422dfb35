// SPDX-License-Identifier: Apache-2.0
//
// This room makes profiles, which correct a detector's scores for the recordings of one channel, and applies
// them. See docs/profiles.md.
import { logOddsOf, probabilityOf } from '../../base/log-odds.js';
import type { ScoreCorrection } from '../../state/operating-points/profile.js';
import type { ScoreAdjustment } from '../analyser/analyser.js';
import { dot } from '../voiceid/vectors.js';

const FLOAT_BYTES = Float32Array.BYTES_PER_ELEMENT;

/** How much of a correction's strength a place on its direction gets, 0..1. */
export const shareAt = (place: number, from: number, to: number): number =>
  Math.min(1, Math.max(0, (place - from) / (to - from)));

export function encodeDirection(direction: Float32Array): string {
  const bytes = Buffer.alloc(direction.length * FLOAT_BYTES);
  for (const [i, value] of direction.entries()) bytes.writeFloatLE(value, i * FLOAT_BYTES);
  return bytes.toString('base64');
}

export function decodeDirection(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  return Float32Array.from({ length: bytes.length / FLOAT_BYTES }, (_, i) =>
    bytes.readFloatLE(i * FLOAT_BYTES),
  );
}

/** Moves a score towards 0 by a correction, as far as its vector is like those of the channel. */
export function adjustmentOf({ direction, from, to, strength }: ScoreCorrection): ScoreAdjustment {
  const unit = decodeDirection(direction);
  return (score, vector) => {
    const share = shareAt(dot(vector, unit), from, to);
    return share === 0 ? score : probabilityOf(logOddsOf(score) - strength * share);
  };
}
