// SPDX-License-Identifier: Apache-2.0
//
// Every call of every S3 program, with its default settings, against the data folder. A program's effects are judged through
// links, and its output by the stored files.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { loadStorageSecrets } from '../../../src/state/storage/storage-secrets.js';
import { downloadLinks, filesOnDisk, follow, stored, uploadLink } from '../../support/file-links.js';
import { type CallTerms, otherBoto3, type S3Caller, s3Callers } from '../../support/s3-callers.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { startTestServer } from '../../support/test-server.js';

const KEY = 'd/a b+é.bin';
/** Above the size from which boto3 (8 MiB) and s3cmd (15 MiB) send parts. */
const large = randomBytes(16_000_001);
const small = randomBytes(1000);
const md5 = createHash('md5').update(small).digest('hex');
/** With `KEY`, more than one page of two. */
const otherKeys = ['d/b', 'd/c', 'd/e/f'];

async function start(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const server = await startTestServer(t, { dataDir });
  const name = decodeURIComponent(new URL(await uploadLink(server, KEY)).pathname.replace('/veravox/', ''));
  const file = path.join(dataDir, 'file');
  const terms: CallTerms = { ...loadStorageSecrets(dataDir), endpoint: server.origin, name, file };
  const keys = async () => (await downloadLinks(server, '')).map(({ key }) => key.replace('analysis/', ''));
  const content = async (key: string) => {
    const [link] = await downloadLinks(server, key);
    return (await follow(link?.value ?? assert.fail(`${key} is missing`))).bytes;
  };
  const fill = async () => {
    for (const key of [KEY, ...otherKeys]) await stored(server, key, small);
  };
  return { dataDir, server, terms, keys, content, fill };
}

type Stage = Awaited<ReturnType<typeof start>>;

const sends =
  (bytes: Buffer) =>
  async ({ dataDir, terms, content }: Stage, call: S3Caller): Promise<void> => {
    fs.writeFileSync(terms.file, bytes);
    await call(terms);
    assert.ok((await content(KEY)).equals(bytes));
    assert.equal(filesOnDisk(dataDir).length, 1, 'no part is left');
  };

const fetches =
  (bytes: Buffer) =>
  async ({ server, terms }: Stage, call: S3Caller): Promise<void> => {
    await stored(server, KEY, bytes);
    await call(terms);
    assert.ok(fs.readFileSync(terms.file).equals(bytes));
  };

async function lists({ terms, fill }: Stage, call: S3Caller): Promise<void> {
  await fill();
  const said = await call(terms);
  for (const key of [KEY, ...otherKeys]) {
    assert.ok(said.includes(path.basename(key)), said);
  }
  assert.equal(said.split(md5).length - 1, 1 + otherKeys.length, said);
}

/** The expected effect of each call. */
const checks: Readonly<Record<string, (stage: Stage, call: S3Caller) => Promise<void>>> = {
  put: sends(small),
  upload: sends(large),
  'upload a stream': sends(large),
  get: fetches(small),
  download: fetches(large),
  async size({ terms, fill }, call) {
    await fill();
    assert.match(await call(terms), /\b1000\b/);
  },
  list: lists,
  'list in version 1': lists,
  async groups({ terms, fill }, call) {
    await fill();
    const said = await call(terms);
    assert.ok(said.includes('e/') && !said.includes('e/f'), said);
  },
  async copy({ server, terms, content }, call) {
    // From 8 MiB on, boto3 copies in parts.
    await stored(server, KEY, large);
    await call(terms);
    assert.ok((await content(`${KEY} copy`)).equals(large));
  },
  async remove({ terms, keys, fill }, call) {
    await fill();
    await call(terms);
    assert.deepEqual(await keys(), otherKeys);
  },
  async 'remove all'({ terms, keys, fill }, call) {
    await fill();
    await call(terms);
    assert.deepEqual(await keys(), []);
  },
  async bucket({ terms }, call) {
    await call(terms);
  },
  async buckets({ terms }, call) {
    assert.match(await call(terms), /\bveravox\b/);
  },
  async 'make bucket'({ terms }, call) {
    await call(terms);
  },
};

const other = await otherBoto3();
for (const [program, calls] of Object.entries({ ...s3Callers, ...(other && { 'another boto3': other }) })) {
  for (const [call, caller] of Object.entries(calls)) {
    test(`${program}: ${call}`, async (t) => {
      const check = checks[call] ?? assert.fail(`Nobody checks the call ${call}.`);
      await check(await start(t), caller);
    });
  }
}
