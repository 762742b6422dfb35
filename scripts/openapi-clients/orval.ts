// SPDX-License-Identifier: Apache-2.0
import * as sdk from './generated/orval';
import { apiKey, play } from './scenario';

const options = { headers: { 'x-api-key': apiKey } };

/** Orval distinguishes answers by status. */
function body<Answer extends { status: number; data: unknown }>(answer: Answer) {
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.data));
  return answer.data as Extract<Answer, { status: 200 }>['data'];
}

await play({
  predict: async (file, prediction_id, threshold) =>
    body(await sdk.predict({ file, prediction_id, threshold }, options)),
  predictByLink: async (presigned_url, prediction_id) =>
    body(await sdk.predictByLink({ presigned_url, prediction_id }, options)),
  enroll: async (audio_file) => body(await sdk.enroll({ audio_file }, options)),
  verify: async (audio_file, voice_vector) => body(await sdk.verify({ audio_file, voice_vector }, options)),
  createUploadLinks: async (key) =>
    body(await sdk.createUploadLinks({ keys: [key], entity: 'analysis' }, options)),
  getDownloadLinks: async (key_prefix) =>
    body(await sdk.getDownloadLinks({ key_prefix, entity: 'analysis' }, options)),
  isReady: async () => body(await sdk.isReady()),
  refusal: async (file) => {
    const answer = await sdk.predict({ file, threshold: 2 }, options);
    return answer.status === 400 ? answer.data : undefined;
  },
});
