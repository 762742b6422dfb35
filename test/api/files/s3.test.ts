// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import http from 'node:http';
import { type TestContext, test } from 'node:test';
import {
  downloadLink,
  downloadLinks,
  follow,
  getFile,
  stored,
  uploadLink,
} from '../../support/file-links.js';
import { noise } from '../../support/form-body.js';
import { storagesAndBetween } from '../../support/storages.js';
import { OTHER_API_KEY, startTestServer } from '../../support/test-server.js';

process.env.AWS_ACCESS_KEY_ID = 'an-id';
process.env.AWS_SECRET_ACCESS_KEY = 'a-secret';

/** Answers every request the same way. Resolves to its origin. */
function startService(t: TestContext, status: number, body: string): Promise<string> {
  const service = http.createServer((_, res) =>
    res.writeHead(status, { 'content-type': 'application/xml' }).end(body),
  );
  t.after(() => {
    service.close();
    service.closeAllConnections();
  });
  return new Promise((resolve) => {
    service.listen(0, '127.0.0.1', () => {
      resolve(`http://127.0.0.1:${(service.address() as { port: number }).port}`);
    });
  });
}

test('an S3 service that refuses or fails makes GET /file a 503, with the cause in the log only', async (t) => {
  const refusal = '<Error><Code>InvalidAccessKeyId</Code><Message>who are you</Message></Error>';
  for (const [status, body] of [
    [403, refusal],
    [500, ''],
    [200, 'no XML'],
  ] as const) {
    const storageEndpoint = await startService(t, status, body);
    const server = await startTestServer(t, { storageBucket: 'files', storageEndpoint });
    const answer = await getFile(server, '?key_prefix=a&entity=analysis');
    assert.equal(answer.status, 503);
    assert.equal(answer.json.error, 'unavailable');
    assert.equal(answer.headers['retry-after'], '5');
    assert.ok(!answer.text.includes('who are you'));
    assert.ok(
      server.log.some(({ errorKey, err }) => errorKey === 'STORAGE_UNAVAILABLE' && err !== undefined),
    );
  }
});

test('an S3 service that is not there is a 503, too; links for sending are made without it', async (t) => {
  const server = await startTestServer(t, { storageBucket: 'files', storageEndpoint: 'http://127.0.0.1:1' });
  assert.equal((await getFile(server, '?key_prefix=a&entity=analysis')).status, 503);
  assert.ok((await uploadLink(server, 'a')).startsWith('http://127.0.0.1:1/files/'));
});

test('links carry no checksum, and point to the bucket as the settings say', async (t) => {
  const expected: readonly [settings: object, start: RegExp][] = [
    [
      { storageEndpoint: 'https://minio.example:9000' },
      /^https:\/\/minio\.example:9000\/files\/[0-9a-f]{32}\//,
    ],
    [
      { storageEndpoint: 'https://s3.example', storagePathStyle: 'no' },
      /^https:\/\/files\.s3\.example\/[0-9a-f]{32}\//,
    ],
    [
      { storageEndpoint: 'http://minio:9000', storagePublicUrl: 'https://files.example' },
      /^https:\/\/files\.example\/files\/[0-9a-f]{32}\//,
    ],
    [{ storageRegion: 'eu-north-1' }, /^https:\/\/files\.s3\.eu-north-1\.amazonaws\.com\/[0-9a-f]{32}\//],
  ];
  for (const [settings, start] of expected) {
    const server = await startTestServer(t, {
      storageBucket: 'files',
      storageLinkLifetimeS: 77,
      ...settings,
    });
    const link = await uploadLink(server, "é '(~.wav");
    assert.match(link, start);
    const { searchParams, origin } = new URL(link);
    assert.equal(searchParams.get('X-Amz-Expires'), '77');
    assert.equal(searchParams.get('X-Amz-SignedHeaders'), 'host');
    assert.ok(![...searchParams.keys()].some((name) => /checksum|crc/i.test(name)));
    assert.deepEqual(server.storagePrefixes, [`${origin}/`]);
  }
});

test('with S3 the server does not serve objects itself', async (t) => {
  const server = await startTestServer(t, { storageBucket: 'files', storageEndpoint: 'http://127.0.0.1:1' });
  assert.equal((await follow(`${server.origin}/veravox/a`)).status, 404);
});

for (const [name, start] of storagesAndBetween) {
  test(`${name}: a link is good for its method, key and signature only`, async (t) => {
    const { server } = await start(t);
    const content = Buffer.from('what was uploaded');
    const download = await stored(server, 'a.wav', content);
    const upload = await uploadLink(server, 'a.wav');
    const last = download.at(-1) === '0' ? '1' : '0';
    for (const link of [
      download.replace(/.$/, last),
      download.replace('a.wav', 'b.wav'),
      download.replace('Expires=900', 'Expires=901'),
      download.replace(/X-Amz-Signature=[^&]*/, ''),
      upload,
    ]) {
      assert.equal((await follow(link)).status, 403, link);
    }
    for (const link of [download, upload.replace('a.wav', 'b.wav')]) {
      const { status } = await follow(link, { method: 'PUT', body: Buffer.from('an intruder') });
      assert.equal(status, 403, link);
    }
    assert.deepEqual((await follow(download)).bytes, content);
  });

  test(`${name}: keys, prefixes and accounts`, async (t) => {
    const { server } = await start(t);
    const keys = ['rec/é b.wav', 'rec', 'rec/a.wav', 'rec/a.wav/part', "other!'()*~+&=?#%.wav"];
    for (const key of keys) await stored(server, key, Buffer.from(key));
    const sorted = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const links = await downloadLinks(server, '');
    assert.deepEqual(
      links.map(({ key }) => key),
      sorted.map((key) => `analysis/${key}`),
    );
    for (const { key, value } of links) assert.equal(`analysis/${(await follow(value)).text}`, key);
    assert.equal((await downloadLinks(server, 'rec/')).length, 3);
    assert.deepEqual(await downloadLinks(server, 'nothing'), []);
    assert.deepEqual(await downloadLinks(server, '', { apiKey: OTHER_API_KEY }), []);
    const ranged = await follow(await downloadLink(server, 'rec'), { headers: { range: 'bytes=1-2' } });
    assert.equal(ranged.status, 206);
    assert.equal(ranged.text, 'ec');
  });

  test(`${name}: v0 gives no link to an object over 4 MB, and says why`, async (t) => {
    const { server } = await start(t);
    await stored(server, 'small', noise(4_000_000));
    await stored(server, 'large', noise(4_000_001));
    for (const base of ['/v0', ''] as const) {
      const refused = await getFile(server, '?key_prefix=l&entity=analysis', { base });
      assert.equal(refused.status, 400);
      assert.equal(refused.json.error, 'validation_error');
      assert.match(refused.json.message, /exceeds the limit of 4000000 bytes/);
      assert.equal((await downloadLinks(server, 's', { base })).length, 1);
    }
    assert.equal((await downloadLinks(server, '')).length, 2);
  });
}
