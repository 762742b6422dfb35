// SPDX-License-Identifier: Apache-2.0
import { FORM_TYPE, type FormEntry, formBody } from './form-body.js';
import { type Answer, type RequestOptions, request } from './http-client.js';
import { API_KEY } from './test-server.js';

export type VoiceRoute =
  | '/v1/voiceid/enroll'
  | '/v1/voiceid/enroll-samples'
  | '/v1/voiceid/verify'
  | '/v1/voiceid/search';

export const audioEntry = (content: string | Uint8Array): FormEntry => ({
  name: 'audio_file',
  content,
  filename: 'voice.wav',
});
export const field = (name: string, content: string): FormEntry => ({ name, content });
export const vectorEntry = (vector: ArrayLike<number>): FormEntry =>
  field('voice_vector', JSON.stringify(Array.from(vector)));

/** A form to one of the two routes, with a valid key by default. */
export function postVoice(
  port: number,
  path: VoiceRoute,
  entries: readonly FormEntry[],
  options: Omit<RequestOptions, 'body' | 'method'> = {},
): Promise<Answer> {
  const body = formBody(entries);
  const headers = {
    'x-api-key': API_KEY,
    'content-type': FORM_TYPE,
    'content-length': body.length,
    ...options.headers,
  };
  return request(port, path, { ...options, method: 'POST', headers, body });
}

export const enroll = (port: number, entries: readonly FormEntry[]): Promise<Answer> =>
  postVoice(port, '/v1/voiceid/enroll', entries);
export const enrollSamples = (port: number, entries: readonly FormEntry[]): Promise<Answer> =>
  postVoice(port, '/v1/voiceid/enroll-samples', entries);
export const verify = (port: number, entries: readonly FormEntry[]): Promise<Answer> =>
  postVoice(port, '/v1/voiceid/verify', entries);
