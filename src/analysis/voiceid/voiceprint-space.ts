// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { EMBEDDING_SIZE } from '../../base/contract/limits.js';
import { dot, normalised } from './vectors.js';

const DIRECTIONS = 8;
/**
 * The largest share of a voiceprint's length that may lie in the excluded directions. Rounding to two decimals brings at
 * most about 0.01; a vector that has nothing to do with the model passes once in thirty million times.
 */
export const TOLERANCE = 0.015;

/**
 * The space of one model's voiceprints: the 248 dimensions at right angles to eight directions, which follow from the model's
 * fingerprint. Taking the share in these directions out of an embedding costs next to nothing in accuracy, and another model's
 * vector has such a share. So a foreign vector is recognised by itself, without further data; and scaling, rounding, half
 * precision, or averaging several voiceprints of a speaker does not hurt.
 */
export class VoiceprintSpace {
  /** Orthonormal. */
  readonly #excluded: readonly Float64Array[];

  constructor(fingerprint: string) {
    const excluded: Float64Array[] = [];
    for (let i = 0; i < DIRECTIONS; i++) {
      excluded.push(normalised(without(signs(`${fingerprint}:${i}`), excluded)));
    }
    this.#excluded = excluded;
  }

  /** The directions that no voiceprint of the model has: rows of EMBEDDING_SIZE. */
  get excluded(): Float64Array {
    return Float64Array.from(this.#excluded.flatMap((direction) => Array.from(direction)));
  }

  /** The voiceprint that an embedding of the model gives: normalised float32. */
  voiceprintOf(embedding: Float32Array): Float32Array {
    return Float32Array.from(normalised(without(embedding, this.#excluded)));
  }

  /** Whether a vector is a voiceprint of the model, or made of some. */
  contains(vector: Float32Array): boolean {
    const direction = normalised(vector);
    const share = Math.hypot(...this.#excluded.map((excluded) => dot(direction, excluded)));
    return share <= TOLERANCE;
  }
}

function without(vector: ArrayLike<number>, directions: readonly Float64Array[]): Float64Array {
  const rest = Float64Array.from(vector);
  for (const direction of directions) {
    const share = dot(rest, direction);
    for (let i = 0; i < rest.length; i++) rest[i] = (rest[i] as number) - share * (direction[i] as number);
  }
  return rest;
}

// One bit of the digest for each element: as far from any axis as a direction can be.
function signs(seed: string): Float64Array {
  const digest = createHash('sha256').update(seed).digest();
  return Float64Array.from({ length: EMBEDDING_SIZE }, (_, i) =>
    ((digest[i >> 3] as number) >> (i & 7)) & 1 ? 1 : -1,
  );
}
