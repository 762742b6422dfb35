// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#authenticate.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { send } from './support/client.js';
import { type Endpoint, endpoints, nameOf } from './support/endpoints.js';
import { expectError } from './support/judge.js';
import { keyWithoutVariable, revokeKey, skipUnlessOwn, target } from './support/target.js';

const { own } = target;

/** 401 in v1, 403 in v0, both with the code `unauthorized`. */
async function expectUnauthorized(endpoint: Endpoint, key: string | null): Promise<void> {
  const answer = await endpoint.send({ key });
  expectError(answer, endpoint.version === 'v1' ? 401 : 403, /./, 'unauthorized');
}

describe('Authentication', () => {
  for (const endpoint of endpoints) {
    const name = nameOf(endpoint);

    test(`${name} refuses a request without a key, and keys that do not exist`, async () => {
      const strangers = [null, '', ' ', 'key', 'x'.repeat(2000), target.key.slice(0, -1), `${target.key}0`];
      for (const key of strangers) await expectUnauthorized(endpoint, key);
    });

    test(`${name} refuses a revoked key`, { skip: skipUnlessOwn }, async () => {
      await expectUnauthorized(endpoint, own?.revoked ?? '');
    });

    test(`${name} takes the name of the header in any letter case`, async () => {
      for (const header of ['x-api-key', 'X-Api-Key', 'X-API-KEY', 'x-aPI-kEY']) {
        const { status, text } = await endpoint.send({ key: null, headers: { [header]: target.key } });
        assert.equal(status, 200, text);
      }
    });

    test(`${name} takes the key from no other place`, async () => {
      for (const header of ['authorization', 'api-key', 'x-api-key-2', 'cookie']) {
        const value = header === 'authorization' ? `Bearer ${target.key}` : target.key;
        const answer = await endpoint.send({ key: null, headers: { [header]: value } });
        expectError(answer, endpoint.version === 'v1' ? 401 : 403, /./, 'unauthorized');
      }
    });

    const skip =
      target.keyWithout(endpoint.scope) === undefined && `needs ${keyWithoutVariable(endpoint.scope)}`;
    test(`${name} refuses a key without the scope ${endpoint.scope}`, { skip }, async () => {
      expectError(
        await endpoint.send({ key: target.keyWithout(endpoint.scope) ?? '' }),
        403,
        new RegExp(endpoint.scope),
      );
    });

    test(`${name} takes a key with the scope ${endpoint.scope} alone, and no other`, {
      skip: skipUnlessOwn,
    }, async () => {
      for (const [scope, key] of Object.entries(own?.scoped ?? {})) {
        const answer = await endpoint.send({ key });
        if (scope === endpoint.scope) assert.equal(answer.status, 200, answer.text);
        else expectError(answer, 403);
      }
    });
  }

  test('a key that has expired is refused', { skip: skipUnlessOwn }, async () => {
    const key = own?.expired ?? '';
    const expired = await within(
      30_000,
      async () => (await send('/v1/file?entity=a&key_prefix=a', { key })).status === 401,
    );
    assert.ok(expired, 'the key is refused once its time is over');
    for (const endpoint of endpoints) await expectUnauthorized(endpoint, key);
  });

  test('a key that is revoked is refused within a second', { skip: skipUnlessOwn }, async () => {
    const key = own?.revocable ?? '';
    const status = async () => (await send('/v1/file?entity=a&key_prefix=a', { key })).status;
    assert.equal(await status(), 200);
    await revokeKey(own?.dataDir ?? '', key);
    assert.ok(await within(1000, async () => (await status()) === 401));
  });

  test('a refused key is not repeated in the answer', async () => {
    const { text } = await send('/v1/predict', { method: 'POST', key: 'a-secret-that-leaks' });
    assert.ok(!text.includes('a-secret-that-leaks'));
  });
});

/** Asks repeatedly until the answer is yes or the time is over. */
async function within(limitMs: number, ask: () => Promise<boolean>): Promise<boolean> {
  const deadlineMs = performance.now() + limitMs;
  // Asks once more after the time is over: on a busy machine an answer may take longer.
  for (let askedMs = 0; askedMs < deadlineMs; ) {
    askedMs = performance.now();
    if (await ask()) return true;
    await setTimeout(20);
  }
  return false;
}
