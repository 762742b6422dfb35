// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { KeyDirectory, KeyFileError } from '../src/state/keys/key-directory.js';
import { KeyStore, type KeyStoreOptions } from '../src/state/keys/key-store.js';

const predictOnly = { name: 'test', scopes: ['predict'] } as const;

class Fixture {
  readonly dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-keys-'));
  readonly directory = new KeyDirectory(this.dataDir);
  readonly #context: TestContext;

  constructor(context: TestContext) {
    this.#context = context;
    context.after(() => fs.rmSync(this.dataDir, { recursive: true }));
  }

  store(options?: KeyStoreOptions): KeyStore {
    const store = new KeyStore(this.dataDir, { pollMs: 5, ...options });
    this.#context.after(() => store.close());
    return store;
  }
}

async function eventually(isDone: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + 10_000;
  while (!isDone()) {
    assert.ok(performance.now() < deadlineMs, 'the store noticed the change');
    await wait(5);
  }
}

test('what is not an active key is refused', (context) => {
  const fixture = new Fixture(context);
  const { text } = fixture.directory.create(predictOnly);
  const other = fixture.directory.create(predictOnly).text;
  const expired = fixture.directory.create({ ...predictOnly, expiresAt: new Date(Date.now() - 1) }).text;
  const revoked = fixture.directory.create(predictOnly);
  fixture.directory.revoke(revoked.key.id);
  const [prefix, id, secret] = [text.slice(0, 3), text.slice(3, 15), text.slice(16)];
  const store = fixture.store();
  const wrong = {
    empty: '',
    'only an id': `${prefix}${id}`,
    'an empty secret': `${prefix}${id}_`,
    'the hash instead of the secret': `${prefix}${id}_${fixture.directory.list()[0]?.secretSha256}`,
    "another key's secret": `${prefix}${id}_${other.slice(16)}`,
    'an unknown id': `${prefix}000000000000_${secret}`,
    'upper case': text.toUpperCase(),
    'a space behind': `${text} `,
    'a line break behind': `${text}\n`,
    'a prototype member': '__proto__',
    'much too long': text.repeat(1000),
    expired,
    revoked: revoked.text,
  };
  for (const [what, presented] of Object.entries(wrong)) {
    assert.equal(store.authenticate(presented), undefined, what);
  }
});

test('keys that are damaged at start are an error', (context) => {
  const fixture = new Fixture(context);
  const { key } = fixture.directory.create(predictOnly);
  fs.writeFileSync(path.join(fixture.directory.dir, `${key.id}.json`), '{"id":');
  assert.throws(() => fixture.store(), KeyFileError);
});

test('keys that become damaged later are reported, and those known before stay valid', async (context) => {
  const fixture = new Fixture(context);
  const { text } = fixture.directory.create(predictOnly);
  const errors: unknown[] = [];
  const store = fixture.store({ onReloadError: (error) => errors.push(error) });
  fs.writeFileSync(path.join(fixture.directory.dir, '000000000000.json'), '{');
  await eventually(() => errors.length > 0);
  assert.ok(errors[0] instanceof KeyFileError);
  assert.equal(store.authenticate(text)?.scopes.has('predict'), true);
});

test('a damaged key does not keep the others from being revoked and created', async (context) => {
  const fixture = new Fixture(context);
  const [damaged, revoked] = [fixture.directory.create(predictOnly), fixture.directory.create(predictOnly)];
  const store = fixture.store({ onReloadError: () => {} });
  fs.writeFileSync(path.join(fixture.directory.dir, `${damaged.key.id}.json`), '{');
  fixture.directory.revoke(revoked.key.id);
  const { text } = fixture.directory.create(predictOnly);
  assert.notEqual(store.authenticate(text), undefined);
  await eventually(() => store.authenticate(revoked.text) === undefined);
  assert.equal(store.authenticate(damaged.text)?.id, damaged.key.id);
});

test('an active key is recognised with its id and scopes', (context) => {
  const fixture = new Fixture(context);
  const { key, text } = fixture.directory.create({ name: 'test', scopes: ['predict', 'file'] });
  const later = fixture.directory.create({ ...predictOnly, expiresAt: new Date(Date.now() + 60_000) });
  const store = fixture.store();
  assert.deepEqual(store.authenticate(text), {
    id: key.id,
    account: 'default',
    scopes: new Set(['predict', 'file']),
  });
  assert.equal(store.authenticate(later.text)?.id, later.key.id);
});

test('a running store notices keys created, revoked and deleted, also many in quick succession', async (context) => {
  const fixture = new Fixture(context);
  const store = fixture.store();
  assert.equal(store.size, 0);
  const created = Array.from({ length: 20 }, () => fixture.directory.create(predictOnly));
  await eventually(() => created.every(({ text }) => store.authenticate(text) !== undefined));
  for (const { key } of created.slice(5)) fixture.directory.revoke(key.id);
  await eventually(() => created.filter(({ text }) => store.authenticate(text) !== undefined).length === 5);
  for (const { key } of created) fs.rmSync(path.join(fixture.directory.dir, `${key.id}.json`));
  await eventually(() => store.size === 0);
});

test('a new key works at once, without waiting for the next look at the folder', (context) => {
  const fixture = new Fixture(context);
  const store = fixture.store({ pollMs: 3_600_000 });
  const created = fixture.directory.create(predictOnly);
  assert.equal(store.authenticate(created.text)?.id, created.key.id);
  const wrongSecret = `${created.text.slice(0, -4)}AAAA`;
  assert.equal(store.authenticate(wrongSecret), undefined);
});

test('strangers who try ids make it look at the disk a few times per second only', (context) => {
  const fixture = new Fixture(context);
  const store = fixture.store({ pollMs: 3_600_000 });
  const looks = context.mock.method(fs, 'statSync');
  const secret = 'A'.repeat(43);
  for (let i = 0; i < 100_000; i++) {
    store.authenticate(`vx_${i.toString(16).padStart(12, '0')}_${secret}`);
  }
  // The loop may last for several seconds on a busy machine.
  assert.ok(looks.mock.callCount() >= 50 && looks.mock.callCount() <= 50 * 60, `${looks.mock.callCount()}`);
});

test('a key file that is edited in place is followed', async (context) => {
  const fixture = new Fixture(context);
  const keys = Array.from({ length: 300 }, () => fixture.directory.create(predictOnly));
  const store = fixture.store();
  // As if all had been written long ago: nothing but the file itself tells.
  const longAgo = new Date(Date.now() - 3_600_000);
  for (const { key } of keys) fs.utimesSync(fixture.directory.fileOf(key.id), longAgo, longAgo);
  fs.utimesSync(fixture.directory.dir, longAgo, longAgo);
  for (const { key, text } of [keys[0], keys[299]].flatMap((key) => key ?? [])) {
    const file = fixture.directory.fileOf(key.id);
    const content = JSON.parse(fs.readFileSync(file, 'utf8'));
    fs.writeFileSync(file, JSON.stringify({ ...content, revokedAt: new Date() }));
    fs.utimesSync(fixture.directory.dir, longAgo, longAgo);
    await eventually(() => store.authenticate(text) === undefined);
  }
});

test('a key that is damaged in place is reported once, and stays valid', async (context) => {
  const fixture = new Fixture(context);
  const { key, text } = fixture.directory.create(predictOnly);
  const errors: unknown[] = [];
  const store = fixture.store({ onReloadError: (error) => errors.push(error) });
  const file = fixture.directory.fileOf(key.id);
  fs.writeFileSync(file, '{');
  const longAgo = new Date(Date.now() - 3_600_000);
  fs.utimesSync(file, longAgo, longAgo);
  fs.utimesSync(fixture.directory.dir, longAgo, longAgo);
  await eventually(() => errors.length > 0);
  const reported = errors.length;
  await wait(50);
  assert.ok(errors.length <= reported + 1, `${errors.length}`);
  assert.equal(store.authenticate(text)?.id, key.id);
});
