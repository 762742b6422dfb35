// SPDX-License-Identifier: Apache-2.0
import { formInput } from './form-inputs.js';
import { correlationIdOf, type Input, type Kind, type Surroundings } from './input.js';
import { jsonInput, queryInput } from './json-inputs.js';
import { linkInput } from './link-inputs.js';
import { mediaInput } from './media-inputs.js';
import { Random } from './random.js';
import { rawInput } from './raw-inputs.js';
import type { SeedFiles } from './seed-files.js';

const shares: readonly (readonly [number, Kind])[] = [
  [56, 'media'],
  [16, 'form'],
  [9, 'json'],
  [5, 'query'],
  [6, 'link'],
  [4, 'raw'],
  [4, 'abort'],
];

/** The input of this number. Values from the server, such as links and keys, differ between runs; nothing else does. */
export function makeInput(seed: number, index: number, surroundings: Surroundings, files: SeedFiles): Input {
  const random = new Random(seed, index);
  const correlationId = correlationIdOf(index);
  const kind = random.weighted(shares);
  switch (kind) {
    case 'media':
      return mediaInput(random, correlationId, surroundings, files);
    case 'form':
      return formInput(random, correlationId, surroundings, files);
    case 'json':
      return jsonInput(random, correlationId, surroundings);
    case 'query':
      return queryInput(random, correlationId, surroundings);
    case 'link':
      return linkInput(random, correlationId, surroundings, files);
    case 'raw':
      return rawInput(random, correlationId, surroundings);
    case 'abort': {
      const input = random.weighted([
        [5, mediaInput],
        [2, formInput],
        [2, linkInput],
      ])(random, correlationId, surroundings, files);
      return { ...input, kind, breaksOffAfter: random.below(input.bytes.length) };
    }
  }
}
