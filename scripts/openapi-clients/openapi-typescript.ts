// SPDX-License-Identifier: Apache-2.0
import createClient from 'openapi-fetch';
import type { paths } from './generated/openapi-typescript';
import { apiKey, origin, play } from './scenario';

const client = createClient<paths>({ baseUrl: origin, headers: { 'x-api-key': apiKey } });

/** Its types use text for bytes, and its documentation gives forms a serialiser. */
const asText = (file: File) => file as unknown as string;
function bodySerializer(fields: object): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    form.append(name, value instanceof Blob ? value : String(value));
  }
  return form;
}

function body<Data>({ data, error }: { data?: Data; error?: unknown }): Data {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

await play({
  predict: async (file, prediction_id, threshold) =>
    body(
      await client.POST('/v1/predict', {
        body: { file: asText(file), prediction_id, threshold },
        bodySerializer,
      }),
    ),
  predictByLink: async (presigned_url, prediction_id) =>
    body(await client.POST('/v1/predict#link', { body: { presigned_url, prediction_id } })),
  enroll: async (file) =>
    body(await client.POST('/v1/voiceid/enroll', { body: { audio_file: asText(file) }, bodySerializer })),
  verify: async (file, voice_vector) =>
    body(
      await client.POST('/v1/voiceid/verify', {
        body: { audio_file: asText(file), voice_vector },
        bodySerializer,
      }),
    ),
  createUploadLinks: async (key) =>
    body(await client.POST('/v1/file', { body: { keys: [key], entity: 'analysis' } })),
  getDownloadLinks: async (key_prefix) =>
    body(await client.GET('/v1/file', { params: { query: { key_prefix, entity: 'analysis' } } })),
  isReady: async () => body(await client.GET('/readyz')),
  refusal: async (file) =>
    (await client.POST('/v1/predict', { body: { file: asText(file), threshold: 2 }, bodySerializer })).error,
});
