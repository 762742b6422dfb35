// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#enroll.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { human, joined, silence } from './support/audio.js';
import { entriesOf, postForm, postJson } from './support/client.js';
import { expectEnrollment, expectError, expectOneOf } from './support/judge.js';
import { audioFormats, encoded, videoOnly } from './support/media.js';
import { enroll } from './support/voice.js';
import { wav } from './support/wav.js';

const path = '/v1/voiceid/enroll';
const sample = wav(human(12));

describe('POST /voiceid/enroll (v1)', () => {
  test('audio_file is required', async () => {
    expectError(await postForm(path, { user_id: 'somebody' }), 400, /audio_file/);
    expectError(await postForm(path, { file: Buffer.from('voice') }), 400, /audio_file/);
  });

  for (const format of audioFormats) {
    test(`audio_file may be ${format.name}`, async () => {
      expectEnrollment(await enroll(await encoded(sample, format)));
    });
  }

  test('user_id is optional, any text, and not part of the answer', async () => {
    for (const user of ['somebody', '', 'ü@example.com', 'x'.repeat(65_536)]) {
      expectEnrollment(await enroll(sample, { user_id: user }));
    }
  });

  test('audio_file under 10 s is 400 with the measured and the required duration', async () => {
    expectError(await enroll(wav(human(9.999))), 400, /9\.999.*\b10\b/);
    expectError(await enroll(wav(human(3))), 400, /\b3(\.0+)?\b.*\b10\b/);
  });
  for (const durationS of [10, 10.001, 31]) {
    test(`audio_file may have ${durationS} s`, async () => {
      expectEnrollment(await enroll(wav(human(durationS))));
    });
  }

  test('audio_file needs 3 s of speech', async () => {
    const refusals = [
      [400, 'validation_error'],
      [422, 'validation_error'],
    ] as const;
    expectOneOf(await enroll(wav(joined(human(1.5), silence(10)))), refusals);
    expectOneOf(await enroll(wav(silence(12))), refusals);
    expectEnrollment(await enroll(wav(joined(human(6), silence(6)))));
  });

  test('what is no audio is 422', async () => {
    expectError(await enroll(Buffer.from('This is no audio. '.repeat(500))), 422);
    expectError(await enroll(sample.subarray(0, 20)), 422);
    expectError(await enroll(await videoOnly('mp4')), 422);
  });

  test('the same sample gives the same voiceprint', async () => {
    const [first, second] = [await enroll(sample), await enroll(sample)];
    assert.deepEqual(expectEnrollment(first).embedding, expectEnrollment(second).embedding);
  });

  test('fields that nobody knows are ignored', async () => {
    expectEnrollment(await enroll(sample, { threshold: 'none', color: 'blue' }));
  });
  for (const [name, content] of Object.entries({ audio_file: sample, user_id: 'a' })) {
    test(`${name} may not be given twice`, async () => {
      const twice = entriesOf({ [name]: content });
      const rest = name === 'audio_file' ? [] : entriesOf({ audio_file: sample });
      expectError(await postForm(path, [...twice, ...twice, ...rest]), 400, new RegExp(name));
    });
  }
  test('a field over 64 KiB is 400', async () => {
    expectError(await enroll(sample, { user_id: 'x'.repeat(65_537) }), 400, /user_id/);
  });

  test('there is no JSON form', async () => {
    expectError(await postJson(path, { presigned_url: 'https://example.com/a.wav' }), 400);
  });
});
