// SPDX-License-Identifier: Apache-2.0
import { human } from './audio.js';
import { type Answer, type FormFields, postForm, postJson, type Sending, send } from './client.js';
import type { Scope } from './target.js';
import { enrolledEmbedding } from './voice.js';
import { wav } from './wav.js';

type Options = Omit<Sending, 'method' | 'body'>;

export interface Endpoint {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly version: 'v1' | 'v0';
  readonly scope: Scope;
  /** A valid request except for the changes in the options. */
  send(options?: Options): Promise<Answer>;
}

const form = (
  path: string,
  scope: Endpoint['scope'],
  version: Endpoint['version'],
  fields: () => FormFields | Promise<FormFields>,
): Endpoint => ({
  method: 'POST',
  path,
  version,
  scope,
  send: async (options) => postForm(path, await fields(), options),
});

const speech = () => wav(human(5));
const links = (path: string, version: Endpoint['version']): Endpoint[] => [
  {
    method: 'POST',
    path,
    version,
    scope: 'file',
    send: (options) => postJson(path, { keys: ['endpoints.wav'], entity: 'analysis' }, options),
  },
  {
    method: 'GET',
    path,
    version,
    scope: 'file',
    send: (options) => send(`${path}?key_prefix=endpoints&entity=analysis`, options),
  },
];

export const unversionedEndpoints: readonly Endpoint[] = [
  form('/predict', 'predict', 'v0', () => ({ file: speech() })),
  ...links('/file', 'v0'),
];

export const v0Endpoints: readonly Endpoint[] = [
  form('/v0/predict', 'predict', 'v0', () => ({ file: speech() })),
  ...links('/v0/file', 'v0'),
];

export const v1Endpoints: readonly Endpoint[] = [
  form('/v1/predict', 'predict', 'v1', () => ({ file: speech() })),
  form('/v1/predict/large-file', 'predict', 'v1', () => ({ file: wav(human(5), { totalBytes: 5_000_000 }) })),
  ...links('/v1/file', 'v1'),
  form('/v1/voiceid/enroll', 'voiceid', 'v1', () => ({ audio_file: wav(human(12)) })),
  form('/v1/voiceid/verify', 'voiceid', 'v1', async () => ({
    audio_file: wav(human(5)),
    voice_vector: JSON.stringify(await enrolledEmbedding()),
  })),
];

/** Every endpoint of the summary, 4.9, and the unversioned base of 9.2. */
export const endpoints: readonly Endpoint[] = [...v1Endpoints, ...v0Endpoints, ...unversionedEndpoints];

export const nameOf = ({ method, path }: Endpoint): string => `${method} ${path}`;
