// SPDX-License-Identifier: Apache-2.0
import { type FormPart, fieldPart, filePart, formBytes, framed } from './framing.js';
import type { Input, Surroundings } from './input.js';
import { mutateBytes } from './mutate-bytes.js';
import type { Random } from './random.js';
import type { SeedFile, SeedFiles } from './seed-files.js';

const boundary = 'veravox-fuzz-boundary';
export const formType = `multipart/form-data; boundary=${boundary}`;

interface Target {
  readonly path: string;
  readonly field: string;
  readonly files: keyof SeedFiles;
}
const predict: Target = { path: '/v1/predict', field: 'file', files: 'short' };
const targets: readonly (readonly [number, Target])[] = [
  [12, predict],
  [3, { path: '/v0/predict', field: 'file', files: 'legacy' }],
  [1, { path: '/predict', field: 'file', files: 'legacy' }],
  [1, { path: '/v0/predict', field: 'file', files: 'short' }],
  [5, { path: '/v1/voiceid/verify', field: 'audio_file', files: 'short' }],
  [2, { path: '/v1/voiceid/enroll', field: 'audio_file', files: 'voice' }],
];

/** A damaged recording in a sound form. */
export function mediaInput(
  random: Random,
  correlationId: string,
  { apiKey, host, voiceVector }: Surroundings,
  files: SeedFiles,
): Input {
  const { path, field, files: length } = random.weighted(targets);
  const seed = random.pick<SeedFile>(files[length]);
  const others = files.short.map(({ bytes }) => bytes);
  const parts: FormPart[] = [filePart(field, mutateBytes(seed.bytes, random, others), seed.name)];
  if (path.endsWith('/verify')) parts.push(fieldPart('voice_vector', voiceVector));
  if (path === predict.path && random.chance(0.3)) parts.push(fieldPart('silence_threshold', '100'));
  if (random.chance(0.3)) parts.reverse();
  const headers = [
    ['host', host],
    ['x-api-key', apiKey],
    ['x-correlation-id', correlationId],
    ['content-type', formType],
  ] as const;
  return {
    kind: 'media',
    what: `${path} with ${seed.name}`,
    bytes: framed(random, 'POST', path, headers, formBytes(boundary, parts)),
    isHttp: true,
    correlationId,
    isPrediction: path === predict.path,
    isApi: true,
  };
}
