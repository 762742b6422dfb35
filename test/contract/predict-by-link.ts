// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#analyse-a-stored-file.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Prediction } from '../../src/base/contract/prediction.js';
import { human } from './support/audio.js';
import { postForm, postJson } from './support/client.js';
import { expectError, expectPrediction } from './support/judge.js';
import { expectConsistent } from './support/prediction-rules.js';
import { freshKey, linkToSpeech, speechBytes, store, uploadLink } from './support/storage.js';
import { wav } from './support/wav.js';

const path = '/v1/predict';
describe('POST /predict (v1): presigned_url', () => {
  test('of a stored object is answered as the upload of the same bytes is', async () => {
    const withoutRun = ({ prediction_id, processing_time, ...rest }: Prediction) => rest;
    const byLink = expectPrediction(await postJson(path, { presigned_url: await linkToSpeech() }));
    const uploaded = expectPrediction(await postForm(path, { file: speechBytes() }));
    assert.deepEqual(withoutRun(byLink), withoutRun(uploaded));
    assert.match(byLink.prediction_id, /^pred_[0-9a-f]{12}$/);
  });

  test('comes with the optional fields of the form', async () => {
    const prediction = expectPrediction(
      await postJson(path, {
        presigned_url: await linkToSpeech(),
        device: 'web_app',
        model: 'apollo-4-2026-01-16',
        prediction_id: 'by-link',
        threshold: 0.3,
        silence_threshold: 90,
      }),
    );
    assert.equal(prediction.prediction_id, 'by-link');
    assert.equal(prediction.model, 'apollo-4-2026-01-16');
    expectConsistent(prediction, 0.3);
  });

  test('comes with a threshold of 0 and of 1', async () => {
    for (const threshold of [0, 1]) {
      expectConsistent(
        expectPrediction(await postJson(path, { presigned_url: await linkToSpeech(), threshold })),
        threshold,
      );
    }
  });

  test('comes in a body of the type application/json, in any letter case and with parameters', async () => {
    for (const type of ['application/json; charset=utf-8', 'Application/JSON']) {
      const headers = { 'content-type': type };
      expectPrediction(await postJson(path, { presigned_url: await linkToSpeech() }, { headers }));
    }
  });

  test('may come with fields that nobody knows', async () => {
    expectPrediction(await postJson(path, { presigned_url: await linkToSpeech(), color: 'blue' }));
  });

  const wrong: [field: string, value: unknown][] = [
    ['device', 'linux'],
    ['device', 5],
    ['model', 'apollo-4-2025-10-20'],
    ['model', ['apollo-4-2026-01-16']],
    ['prediction_id', ''],
    ['prediction_id', 'x'.repeat(129)],
    ['prediction_id', 17],
    ['threshold', -0.001],
    ['threshold', 1.001],
    ['threshold', true],
    ['silence_threshold', -0.001],
    ['silence_threshold', 100.001],
    ['silence_threshold', {}],
  ];
  for (const [field, value] of wrong) {
    test(`may not come with ${field} ${JSON.stringify(value).slice(0, 30)}`, async () => {
      expectError(
        await postJson(path, { presigned_url: await linkToSpeech(), [field]: value }),
        400,
        new RegExp(field),
      );
    });
  }

  for (const value of [undefined, null, 5, '', 'recording.wav', ['https://example.com/a.wav'], {}]) {
    test(`may not be ${JSON.stringify(value)}`, async () => {
      expectError(await postJson(path, { presigned_url: value }), 400, /presigned_url/);
    });
  }

  const foreign = [
    'https://example.com/voice.wav',
    'https://storage.example.org/bucket/key?X-Amz-Signature=00',
    'file:///etc/passwd',
    'ftp://127.0.0.1/voice.wav',
    'data:audio/wav;base64,UklGRg==',
    'http://127.0.0.1:9/voice.wav',
    'http://localhost:9/voice.wav',
    'http://[::1]:9/voice.wav',
    'http://[::ffff:127.0.0.1]:9/voice.wav',
    'http://169.254.169.254/latest/meta-data/',
    'http://10.0.0.1/voice.wav',
    'http://192.168.0.1/voice.wav',
    'http://0.0.0.0:9/voice.wav',
    'http://2130706433:9/voice.wav',
  ];
  for (const url of foreign) {
    test(`that is not of the configured storage is 400: ${url}`, async () => {
      expectError(await postJson(path, { presigned_url: url }), 400, /presigned_url/);
    });
  }

  test('that the storage refuses is 400 and names the status of the storage', async () => {
    const link = await linkToSpeech();
    const tampered = link.replace(
      /(X-Amz-Signature=)(.)/,
      (_, name, digit) => name + (digit === '0' ? '1' : '0'),
    );
    assert.notEqual(tampered, link);
    expectError(await postJson(path, { presigned_url: tampered }), 400, /\b403\b/);
    const onlyForUploads = await uploadLink(freshKey());
    expectError(await postJson(path, { presigned_url: onlyForUploads }), 400, /\b40[34]\b/);
  });

  test('does not lead to other paths of the service', async () => {
    const link = await linkToSpeech();
    for (const path of ['/metrics', '/livez', '/v1/file?key_prefix=a&entity=a', '/']) {
      const answer = await postJson('/v1/predict', { presigned_url: new URL(path, link).href });
      expectError(answer, 400);
    }
  });

  test('of an object over the limit of 5 MiB is 413 and names /predict/large-file; at the limit it is analysed', async () => {
    const atLimit = await store(freshKey(), wav(human(5), { totalBytes: 5_242_880 }));
    expectPrediction(await postJson(path, { presigned_url: atLimit }));
    const over = await store(freshKey(), wav(human(5), { totalBytes: 5_242_881 }));
    expectError(await postJson(path, { presigned_url: over }), 413, /\/predict\/large-file/);
  });

  test('of an object that is no audio is 422', async () => {
    const text = await store(freshKey('txt'), Buffer.from('This is no audio. '.repeat(100)));
    expectError(await postJson(path, { presigned_url: text }), 422);
  });

  for (const body of ['', '{', '[]', 'null', '"text"', '{"presigned_url": "https://', '\u0000', '{} {}']) {
    test(`may not stand in a body that is no JSON object: ${JSON.stringify(body)}`, async () => {
      expectError(await postJson(path, body), 400);
    });
  }
});
