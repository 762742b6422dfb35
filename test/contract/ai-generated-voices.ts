// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#ai-generated-voices.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ForbiddenErrorBody } from '../../src/base/contract/error-bodies.js';
import { human } from './support/audio.js';
import { expectEnrollment, expectForbiddenVoice } from './support/judge.js';
import { skipUnlessOwn, startConfigured } from './support/target.js';
import { enroll, enrolledEmbedding, spoofedSample, verify } from './support/voice.js';
import { wav } from './support/wav.js';

function expectDetails({ message }: ForbiddenErrorBody): void {
  const [percent = ''] = /\d+(\.\d+)?(?= ?%)/.exec(message.detail) ?? [];
  assert.ok(Number(percent) > 0 && Number(percent) <= 100, message.detail);
  const ageMs = Date.now() - Date.parse(message.timestamp);
  assert.ok(Math.abs(ageMs) < 60_000, `${message.timestamp} is now`);
}

describe('Refusal of AI-generated voices', () => {
  test('verify refuses an AI-generated voice with it', async () => {
    const vector = JSON.stringify(await enrolledEmbedding());
    expectDetails(expectForbiddenVoice(await verify(await spoofedSample(), vector)));
  });

  test('enroll refuses an AI-generated voice with it', async () => {
    expectDetails(expectForbiddenVoice(await enroll(await spoofedSample())));
  });

  test("its correlation id is the caller's own", async () => {
    const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
    const answer = await enroll(await spoofedSample(), {}, { headers: { 'x-correlation-id': id } });
    assert.equal(expectForbiddenVoice(answer).message.correlation_id, id);
  });
});

for (const [policy, checked] of [
  ['flag', true],
  ['skip', false],
] as const) {
  describe(`AI-generated voices with the enrollment policy ${policy}`, { skip: skipUnlessOwn }, () => {
    let server: Awaited<ReturnType<typeof startConfigured>>;
    before(async () => {
      server = await startConfigured({ VERAVOX_ENROLL_AUTHENTICITY: policy });
    });
    after(() => server.stop());

    test(`an AI-generated voice is enrolled, deepfake_checked is ${checked}`, async () => {
      const { origin, key } = server;
      const answer = await enroll(await spoofedSample(), {}, { origin, key });
      assert.equal(expectEnrollment(answer).deepfake_checked, checked);
      const genuine = await enroll(wav(human(12)), {}, { origin, key });
      assert.equal(expectEnrollment(genuine).deepfake_checked, checked);
      if (policy === 'flag') {
        const added = Object.keys(answer.headers).filter((name) => !(name in genuine.headers));
        assert.ok(added.length > 0, 'a header says that the sample was flagged');
      }
    });
  });
}
