// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#limits.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { human, joined, RATE_HZ, silence } from './support/audio.js';
import { postForm } from './support/client.js';
import {
  expectError,
  expectLargeFilePrediction,
  expectLegacyPrediction,
  expectNear,
  expectOneOf,
  expectPrediction,
} from './support/judge.js';
import { expectSilenceWarning } from './support/prediction-rules.js';
import { skipUnlessOwn, startConfigured } from './support/target.js';
import { wav } from './support/wav.js';

const mebibyte = 1024 * 1024;
const sized = (totalBytes: number) => ({ file: wav(human(6), { totalBytes }) });
/** 8,000 bytes per second, so that 10 minutes are within 5 MiB. Silent after a minute, which saves analysis. */
const telephone = (durationS: number) => {
  const speechS = 60;
  const halved = (seconds: number) => (seconds * 8000) / RATE_HZ;
  const samples = joined(human(halved(speechS)), silence(halved(durationS - speechS)));
  return wav(samples, { rateHz: 8000, bits: 8 });
};

describe('Limits of /predict (v1)', () => {
  test('5 MiB are the largest file; a larger one is 413 and /predict/large-file is named', async () => {
    for (const bytes of [5_000_000, 5 * mebibyte - 1, 5 * mebibyte]) {
      expectPrediction(await postForm('/v1/predict', sized(bytes)));
    }
    for (const bytes of [5 * mebibyte + 1, 5 * mebibyte + 2, 20_000_000]) {
      expectError(await postForm('/v1/predict', sized(bytes)), 413, /\/predict\/large-file/);
    }
    const unannounced = { headers: { 'transfer-encoding': 'chunked' } };
    expectPrediction(await postForm('/v1/predict', sized(5 * mebibyte), unannounced));
    const over = await postForm('/v1/predict', sized(5 * mebibyte + 1), unannounced);
    expectError(over, 413, /\/predict\/large-file/);
  });

  test('1 s is the shortest audio; less is 400 with the measured and the required duration', async () => {
    expectPrediction(await postForm('/v1/predict', { file: wav(human(1)) }));
    expectPrediction(await postForm('/v1/predict', { file: wav(human(1.001)) }));
    expectError(await postForm('/v1/predict', { file: wav(human(0.999)) }), 400, /0\.999.*\b1\b/);
    expectError(await postForm('/v1/predict', { file: wav(human(0.1)) }), 400, /0\.1\b.*\b1\b/);
    // An empty recording is too short, and also cannot be processed.
    expectOneOf(await postForm('/v1/predict', { file: wav(new Int16Array(0)) }), [
      [400, 'validation_error'],
      [422, 'unsupported_format'],
    ]);
  });

  test('10 min are the longest audio; more is 413 with the measured and the allowed duration', async () => {
    const prediction = expectPrediction(await postForm('/v1/predict', { file: telephone(600) }));
    assert.equal(prediction.segments.length, 12);
    expectSilenceWarning(prediction.warnings, 60, 600);
    expectNear(prediction.audio_duration, 600, 5e-4, 'audio_duration');
    const over = await postForm('/v1/predict', { file: telephone(601) });
    expectError(over, 413, /\b60[01](\.\d+)?\b.*\b600\b/);
  });
});

describe('Limits of /predict/large-file (v1)', () => {
  const path = '/v1/predict/large-file';

  test('5,000,000 bytes are the smallest file; a smaller one is 400', async () => {
    for (const bytes of [5_000_000, 5_000_001]) expectLargeFilePrediction(await postForm(path, sized(bytes)));
    for (const bytes of [4_999_999, 1_000_000]) expectError(await postForm(path, sized(bytes)), 400);
  });

  test('100 MiB are the largest file; a larger one is 413', async () => {
    expectLargeFilePrediction(await postForm(path, sized(100 * mebibyte)));
    expectError(await postForm(path, sized(100 * mebibyte + 1)), 413);
  });

  test('1 s is the shortest audio', async () => {
    const lasting = (durationS: number) => ({ file: wav(human(durationS), { totalBytes: 5_000_000 }) });
    expectLargeFilePrediction(await postForm(path, lasting(1)));
    expectError(await postForm(path, lasting(0.999)), 400, /0\.999.*\b1\b/);
  });
});

describe('Limits of /predict (v0)', () => {
  for (const path of ['/v0/predict', '/predict']) {
    test(`${path}: 4,000,000 bytes are the largest file; a larger one is 400`, async () => {
      for (const bytes of [3_999_999, 4_000_000]) expectLegacyPrediction(await postForm(path, sized(bytes)));
      for (const bytes of [4_000_001, 6_000_000]) expectError(await postForm(path, sized(bytes)), 400);
    });

    test(`${path}: 3 s are the shortest audio; less is 400 with the measured and the required duration`, async () => {
      for (const durationS of [3, 3.001]) {
        const answer = await postForm(path, { file: wav(human(durationS)) });
        assert.equal(expectLegacyPrediction(answer).predictions.length, 1);
      }
      expectError(await postForm(path, { file: wav(human(2.999)) }), 400, /2\.999.*\b3\b/);
      expectError(await postForm(path, { file: wav(human(1)) }), 400, /\b1\b.*\b3\b/);
    });
  }
});

describe('Limits that are settings', { skip: skipUnlessOwn }, () => {
  let server: Awaited<ReturnType<typeof startConfigured>>;
  before(async () => {
    server = await startConfigured({
      VERAVOX_MAX_PREDICT_BYTES: '400000',
      VERAVOX_MAX_PREDICT_DURATION_S: '10',
      VERAVOX_MAX_LARGE_FILE_DURATION_S: '10',
    });
  });
  after(() => server.stop());

  test('the size of /predict', async () => {
    const { origin, key } = server;
    expectPrediction(await postForm('/v1/predict', sized(400_000), { origin, key }));
    expectError(await postForm('/v1/predict', sized(400_001), { origin, key }), 413, /\/predict\/large-file/);
  });

  test('the longest audio of /predict', async () => {
    const { origin, key } = server;
    expectPrediction(await postForm('/v1/predict', { file: wav(human(10)) }, { origin, key }));
    const over = await postForm('/v1/predict', { file: wav(human(10.5)) }, { origin, key });
    expectError(over, 413, /\b10(\.\d+)?\b.*\b10\b/);
  });

  test('the longest audio of /predict/large-file', async () => {
    const { origin, key } = server;
    const lasting = (durationS: number) => ({ file: wav(human(durationS), { totalBytes: 5_000_000 }) });
    expectLargeFilePrediction(await postForm('/v1/predict/large-file', lasting(10), { origin, key }));
    const over = await postForm('/v1/predict/large-file', lasting(10.5), { origin, key });
    expectError(over, 413, /\b10(\.\d+)?\b.*\b10\b/);
  });
});
