// SPDX-License-Identifier: Apache-2.0
import { client } from './generated/hey-api/client.gen';
import * as sdk from './generated/hey-api/sdk.gen';
import { apiKey, origin, play } from './scenario';

client.setConfig({ baseUrl: origin, auth: apiKey });
const throwOnError = true;

await play({
  predict: async (file, prediction_id, threshold) =>
    (await sdk.predict({ body: { file, prediction_id, threshold }, throwOnError })).data,
  predictByLink: async (presigned_url, prediction_id) =>
    (await sdk.predictByLink({ body: { presigned_url, prediction_id }, throwOnError })).data,
  enroll: async (audio_file) => (await sdk.enroll({ body: { audio_file }, throwOnError })).data,
  verify: async (audio_file, voice_vector) =>
    (await sdk.verify({ body: { audio_file, voice_vector }, throwOnError })).data,
  createUploadLinks: async (key) =>
    (await sdk.createUploadLinks({ body: { keys: [key], entity: 'analysis' }, throwOnError })).data,
  getDownloadLinks: async (key_prefix) =>
    (await sdk.getDownloadLinks({ query: { key_prefix, entity: 'analysis' }, throwOnError })).data,
  isReady: async () => (await sdk.isReady({ throwOnError })).data,
  refusal: async (file) => (await sdk.predict({ body: { file, threshold: 2 } })).error,
});
