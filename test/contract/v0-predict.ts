// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#version-0.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LegacyPrediction } from '../../src/base/contract/legacy-prediction.js';
import { human, silence } from './support/audio.js';
import { entriesOf, postForm, postJson } from './support/client.js';
import { expectError, expectLegacyPrediction, expectNear, expectOneOf } from './support/judge.js';
import { encoded, formats, videoOnly } from './support/media.js';
import { freshKey, linkToSpeech, speechBytes, store } from './support/storage.js';
import { wav } from './support/wav.js';

const speech = speechBytes();
const model = 'apollo-4-2025-10-20';
/** The interface allows either. */
const unsupported = [
  [400, 'validation_error'],
  [422, 'unsupported_format'],
] as const;

for (const [base, path] of [
  ['v0', '/v0/predict'],
  ['unversioned', '/predict'],
] as const) {
  describe(`POST /predict (${base}): the upload form`, () => {
    test('answers with one prediction per chunk', async () => {
      const { predictions, model: used } = expectLegacyPrediction(await postForm(path, { file: speech }));
      assert.equal(predictions.length, 3);
      assert.equal(used, model);
    });

    test('file is required', async () => {
      expectError(await postForm(path, { user_id: 'somebody' }), 400, /file/);
    });

    for (const format of formats.filter(({ name }) => ['WAV', 'MP3', 'M4A', 'FLAC', 'OGG'].includes(name))) {
      test(`file may be ${format.name}`, async () => {
        const answer = await postForm(path, { file: await encoded(speech, format) });
        const { predictions, audio_duration } = expectLegacyPrediction(answer);
        assert.equal(predictions.length, 3);
        expectNear(audio_duration, 12, 0.25, 'audio_duration');
      });
    }

    test('user_id is optional, any text', async () => {
      for (const user of ['somebody', '', 'ü@example.com', 'x'.repeat(65_536)]) {
        expectLegacyPrediction(await postForm(path, { file: speech, user_id: user }));
      }
    });

    test('v0 ignores the fields of v1', async () => {
      const fields = { model: 'apollo-5', device: 'linux', threshold: '7', prediction_id: '' };
      const withFields = expectLegacyPrediction(await postForm(path, { file: speech, ...fields }));
      const without = expectLegacyPrediction(await postForm(path, { file: speech }));
      assert.deepEqual(withFields.global_probability, without.global_probability);
      assert.deepEqual(withFields.predictions, without.predictions);
      assert.equal(withFields.model, model);
    });

    for (const [name, content] of Object.entries({ file: speech, user_id: 'a' })) {
      test(`${name} may not be given twice`, async () => {
        const twice = entriesOf({ [name]: content });
        const rest = name === 'file' ? [] : entriesOf({ file: speech });
        expectError(await postForm(path, [...twice, ...twice, ...rest]), 400, new RegExp(name));
      });
    }
    test('a field over 64 KiB is 400', async () => {
      expectError(await postForm(path, { file: speech, user_id: 'x'.repeat(65_537) }), 400, /user_id/);
    });

    test('what is no audio is refused', async () => {
      const text = Buffer.from('This is no audio. '.repeat(500));
      expectOneOf(await postForm(path, { file: text }), unsupported);
      expectOneOf(await postForm(path, { file: await videoOnly('mp4') }), unsupported);
    });

    test('silence is never called real', async () => {
      const answer = await postForm(path, { file: wav(silence(10)) });
      if (answer.status === 200) {
        const { error } = expectLegacyPrediction(answer);
        assert.ok(error.every((sentence) => typeof sentence === 'string'));
      } else {
        expectError(answer, 422, /./, 'validation_error');
      }
    });
  });

  describe(`POST /predict (${base}): the JSON form`, () => {
    test('is answered as the upload of the same bytes is', async () => {
      const withoutTime = ({ processing_time, ...rest }: LegacyPrediction) => rest;
      const byLink = expectLegacyPrediction(await postJson(path, { presigned_url: await linkToSpeech() }));
      const uploaded = expectLegacyPrediction(await postForm(path, { file: speech }));
      assert.deepEqual(withoutTime(byLink), withoutTime(uploaded));
    });

    test('takes user_id and ignores what nobody knows', async () => {
      expectLegacyPrediction(
        await postJson(path, {
          presigned_url: await linkToSpeech(),
          user_id: 'somebody',
          threshold: 7,
          model: 'apollo-5',
        }),
      );
    });

    for (const url of [
      undefined,
      5,
      'recording.wav',
      'https://example.com/a.wav',
      'http://127.0.0.1:9/a.wav',
    ]) {
      test(`presigned_url may not be ${url}`, async () => {
        expectError(await postJson(path, { presigned_url: url }), 400);
      });
    }

    test('an object over 4 MB is 400; one of 4 MB is analysed', async () => {
      const atLimit = await store(freshKey(), wav(human(5), { totalBytes: 4_000_000 }));
      expectLegacyPrediction(await postJson(path, { presigned_url: atLimit }));
      const over = await store(freshKey(), wav(human(5), { totalBytes: 4_000_001 }));
      expectError(await postJson(path, { presigned_url: over }), 400);
    });

    for (const body of ['', '{', '[]']) {
      test(`may not be ${JSON.stringify(body)}`, async () => {
        expectError(await postJson(path, body), 400);
      });
    }
  });
}
