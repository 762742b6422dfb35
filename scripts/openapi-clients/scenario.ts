// SPDX-License-Identifier: Apache-2.0
//
// Steps for each generated client against a real server.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

/** Settings that the check passes on. */
export const { VERAVOX_ORIGIN: origin = '', VERAVOX_KEY: apiKey = '', VERAVOX_RECORDING = '' } = process.env;

export interface Prediction {
  prediction_id: string;
  global: { score: number; result: 'spoofed' | 'bonafide' };
  segments: { start: number; end: number }[];
}

/** Methods of a generated client, each returning the body of a success. */
export interface GeneratedClient {
  predict(file: File, predictionId: string, threshold: number): Promise<Prediction>;
  predictByLink(link: string, predictionId: string): Promise<Prediction>;
  enroll(sample: File): Promise<{ embedding: number[] }>;
  verify(sample: File, voiceVector: string): Promise<{ is_match: boolean }>;
  createUploadLinks(key: string): Promise<{ url: { key: string; value: string }[] }>;
  getDownloadLinks(keyPrefix: string): Promise<{ url: { key: string; value: string }[] }>;
  isReady(): Promise<{ ready: boolean }>;
  /** The answer to a threshold of 2. */
  refusal(file: File): Promise<{ error?: string } | undefined>;
}

export async function play(client: GeneratedClient): Promise<void> {
  const recording = new File([readFileSync(VERAVOX_RECORDING)], 'recording.ogg');
  assert.equal((await client.isReady()).ready, true);

  const prediction = await client.predict(recording, 'by-form', 0.25);
  assert.equal(prediction.prediction_id, 'by-form');
  assert.ok(prediction.segments.length >= 2);

  const [upload] = (await client.createUploadLinks('recording.ogg')).url;
  assert.equal(upload?.key, 'analysis/recording.ogg');
  const put = await fetch(upload.value, { method: 'PUT', body: recording });
  assert.equal(put.status, 200);
  const [download] = (await client.getDownloadLinks('recording')).url;
  assert.ok(download);
  const byLink = await client.predictByLink(download.value, 'by-link');
  assert.equal(byLink.prediction_id, 'by-link');
  assert.equal(byLink.global.score, prediction.global.score);

  const { embedding } = await client.enroll(recording);
  assert.equal(embedding.length, 256);
  assert.equal((await client.verify(recording, JSON.stringify(embedding))).is_match, true);

  assert.equal((await client.refusal(recording))?.error, 'validation_error');
}
