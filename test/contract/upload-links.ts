// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#upload.
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { postJson, send, sendTo, uuidPattern } from './support/client.js';
import { expectError, expectLinks } from './support/judge.js';
import {
  downloadLink,
  freshKey,
  requestDownloadLinks,
  requestUploadLinks,
  store,
  uploadLink,
} from './support/storage.js';
import { skipUnlessOwn, startConfigured, target } from './support/target.js';

const path = '/v1/file';
const numbered = (count: number) => Array.from({ length: count }, (_, i) => `numbered/${i}.wav`);

describe('POST /file (v1): keys', () => {
  for (const count of [1, 2, 99, 100]) {
    test(`may be ${count}: one entry per key`, async () => {
      const links = expectLinks(await requestUploadLinks(numbered(count)));
      assert.deepEqual(
        links.map(({ key }) => key),
        numbered(count).map((key) => `analysis/${key}`),
      );
    });
  }
  for (const count of [0, 101]) {
    test(`may not be ${count}`, async () => {
      expectError(await requestUploadLinks(numbered(count)), 400, /keys/);
    });
  }
  for (const keys of [undefined, null, 'recording.wav', 5, {}, [5], [null], [['a']], ['fine.wav', 5]]) {
    test(`may not be ${JSON.stringify(keys)}`, async () => {
      expectError(await requestUploadLinks(keys), 400, /keys/);
    });
  }

  const fine = [
    'a',
    'recording.wav',
    'folder/recording.wav',
    'a..b/..c/d..',
    '...',
    'with space.wav',
    'plus+percent%25question?hash#amp&equals=.wav',
    'стимме/声.wav',
    'quote\'"(round)[square]{curly}!*~;:@,$',
    'x'.repeat(511),
    'x'.repeat(512),
    'ä'.repeat(256),
  ];
  for (const key of fine) {
    test(`may be ${JSON.stringify(key.slice(0, 50))}, ${Buffer.byteLength(key)} bytes`, async () => {
      const [link] = expectLinks(await requestUploadLinks([key]));
      assert.equal(link?.key, `analysis/${key}`);
    });
  }
  const refused = [
    '',
    'x'.repeat(513),
    `${'ä'.repeat(256)}x`,
    '/absolute.wav',
    '..',
    '../above.wav',
    'folder/../recording.wav',
    'folder/..',
    'tab\t.wav',
    'line\n.wav',
    'null\u0000.wav',
    'delete\u007f.wav',
  ];
  for (const key of refused) {
    test(`may not be ${JSON.stringify(key.slice(0, 50))}, ${Buffer.byteLength(key)} bytes`, async () => {
      expectError(await requestUploadLinks([key]), 400, /key/);
      expectError(await requestUploadLinks(['fine.wav', key]), 400, /key/);
    });
  }
});

describe('POST /file (v1): many long keys', () => {
  const full = Array.from({ length: 100 }, (_, i) => `${'ä'.repeat(254)}${String(i).padStart(4, '0')}`);

  test('may be 100 of 512 bytes', async () => {
    assert.equal(Buffer.byteLength(full[0] ?? ''), 512);
    assert.equal(expectLinks(await requestUploadLinks(full)).length, 100);
  });

  test('may be escaped in the JSON, as some clients do', async () => {
    const json = JSON.stringify({ keys: full, entity: 'analysis' });
    const links = expectLinks(await postJson(path, json.replaceAll('ä', '\\u00e4')));
    assert.deepEqual(
      links.map(({ key }) => key),
      full.map((key) => `analysis/${key}`),
    );
  });
});

describe('POST /file (v1): entity', () => {
  for (const entity of ['analysis', 'a', 'results', 'a_b-c9', `a${'0'.repeat(31)}`]) {
    test(`may be ${entity}`, async () => {
      const [link] = expectLinks(await requestUploadLinks(['recording.wav'], entity));
      assert.equal(link?.key, `${entity}/recording.wav`);
    });
  }
  const refused = [
    undefined,
    null,
    5,
    ['analysis'],
    '',
    'Analysis',
    '1a',
    '_a',
    '-a',
    'a.b',
    'a/b',
    '..',
    'a ',
    'ä',
    `a${'0'.repeat(32)}`,
  ];
  for (const entity of refused) {
    test(`may not be ${JSON.stringify(entity)}`, async () => {
      // JSON omits undefined.
      expectError(await postJson(path, { keys: ['recording.wav'], entity }), 400, /entity/);
    });
  }
});

describe('POST /file (v1): the request', () => {
  for (const body of ['', '{', '[]', 'null', '"text"', '{"keys": ["a"], "entity": "analysis"']) {
    test(`may not be ${JSON.stringify(body)}`, async () => {
      expectError(await postJson(path, body), 400);
    });
  }
  test('may not be a form', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    expectError(await send(path, { method: 'POST', headers, body: Buffer.from('--b--\r\n') }), 400);
  });
});

describe('POST /file (v1): the links', () => {
  test('take the bytes by PUT, and GET gives the same bytes', async () => {
    const bytes = randomBytes(300_000);
    const download = await sendTo(await store(freshKey(), bytes), 'GET');
    assert.equal(download.status, 200);
    assert.ok(Buffer.from(download.text, 'latin1').equals(bytes));
  });

  const odd = [
    'plus+percent%25question?hash#amp&equals=.wav',
    'with space.wav',
    ' spaces around ',
    'стимме/声.wav',
    'a..b/..c',
    'double//slash.wav',
    'ends/with/slash/',
    'back\\slash/..\\.wav',
    'quote\'"<angle>(round)[square]{curly}|!*~;:@,$^`',
    'composed-\u00e9',
    'decomposed-e\u0301',
    'x'.repeat(475),
    `${'y'.repeat(200)}/${'z'.repeat(274)}`,
  ];
  for (const key of odd) {
    test(`work for the key ${key.slice(0, 50)}`, async () => {
      const unique = `${randomUUID()}/${key}`;
      const download = await sendTo(await store(unique, Buffer.from(key)), 'GET');
      assert.equal(Buffer.from(download.text, 'latin1').toString('utf8'), key);
    });
  }

  test('keep keys apart that differ in little, or that begin another one', async () => {
    const folder = randomUUID();
    const keys = ['a', 'a/b', 'a/b/c', 'A', '\u00e9', 'e\u0301', 'a ', 'a%20', 'a+', 'a/', 'a//b'];
    for (const key of keys) {
      const { status } = await sendTo(await uploadLink(`${folder}/${key}`), 'PUT', {}, Buffer.from(key));
      assert.equal(status, 200);
    }
    const links = expectLinks(await requestDownloadLinks(`${folder}/`));
    for (const { key, value } of links) {
      const { text } = await sendTo(value, 'GET');
      assert.equal(`analysis/${folder}/${Buffer.from(text, 'latin1').toString('utf8')}`, key);
    }
    const wanted = keys.map((key) => `analysis/${folder}/${key}`);
    assert.deepEqual(links.map(({ key }) => key).sort(), wanted.sort());
  });

  test('replace what was stored under the key', async () => {
    const key = freshKey();
    await store(key, Buffer.from('first'));
    assert.equal((await sendTo(await store(key, Buffer.from('second')), 'GET')).text, 'second');
  });

  test('take an empty object', async () => {
    const download = await sendTo(await store(freshKey(), Buffer.alloc(0)), 'GET');
    assert.equal(download.status, 200);
    assert.equal(download.text, '');
  });

  test('live for 15 minutes', async () => {
    assert.equal(new URL(await uploadLink(freshKey())).searchParams.get('X-Amz-Expires'), '900');
  });

  const changes: Record<string, (link: URL) => void> = {
    'another signature': (link) => {
      const signature = link.searchParams.get('X-Amz-Signature') ?? '';
      const last = signature.endsWith('0') ? '1' : '0';
      link.searchParams.set('X-Amz-Signature', signature.slice(0, -1) + last);
    },
    'no signature': (link) => link.searchParams.delete('X-Amz-Signature'),
    'a longer life': (link) => link.searchParams.set('X-Amz-Expires', '604800'),
    'another key': (link) => {
      link.pathname = link.pathname.replace(/.$/, 'x');
    },
    'another date': (link) => link.searchParams.set('X-Amz-Date', '20200101T000000Z'),
    'another credential': (link) => {
      const credential = link.searchParams.get('X-Amz-Credential') ?? '';
      link.searchParams.set(
        'X-Amz-Credential',
        credential.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')),
      );
    },
  };
  for (const [name, change] of Object.entries(changes)) {
    test(`are refused with ${name}, to put and to get`, async () => {
      const key = freshKey();
      await store(key, Buffer.from('kept'));
      for (const [method, link] of [
        ['PUT', await uploadLink(key)],
        ['GET', await downloadLink(key)],
      ] as const) {
        const changed = new URL(link);
        change(changed);
        assert.notEqual(changed.href, link);
        const body = method === 'PUT' ? Buffer.from('changed') : undefined;
        const { status, text } = await sendTo(changed.href, method, {}, body);
        expectRefused(status, method);
        assert.ok(!text.includes('kept'));
      }
      assert.equal((await sendTo(await downloadLink(key), 'GET')).text, 'kept');
    });
  }

  test('are for one method', async () => {
    const key = freshKey();
    const download = await store(key, Buffer.from('kept'));
    const upload = await uploadLink(key);
    expectRefused((await sendTo(upload, 'GET')).status, 'GET');
    expectRefused((await sendTo(upload, 'DELETE')).status, 'DELETE');
    expectRefused((await sendTo(download, 'PUT', {}, Buffer.from('changed'))).status, 'PUT');
    expectRefused((await sendTo(download, 'DELETE')).status, 'DELETE');
    assert.equal((await sendTo(download, 'GET')).text, 'kept');
  });

  test('are answered with a correlation id by the embedded storage', { skip: skipUnlessOwn }, async () => {
    const key = freshKey();
    const put = await sendTo(await uploadLink(key), 'PUT', {}, Buffer.from('content'));
    const answers = [put, await sendTo(await downloadLink(key), 'GET')];
    for (const { headers } of answers) assert.match(String(headers['x-correlation-id']), uuidPattern);
  });

  test('need no API key, and hold none', async () => {
    const link = await uploadLink(freshKey());
    assert.ok(!link.includes(target.key));
  });
});

describe('POST /file (v1): links with a life of two seconds', { skip: skipUnlessOwn }, () => {
  let server: Awaited<ReturnType<typeof startConfigured>>;
  before(async () => {
    server = await startConfigured({ VERAVOX_STORAGE_LINK_LIFETIME_S: '2' });
  });
  after(() => server.stop());

  test('are refused when it is over, and their object stays as it was', async () => {
    const { origin, key: apiKey } = server;
    const upload = async () => {
      const [link] = expectLinks(await requestUploadLinks(['a'], 'analysis', { origin, key: apiKey }));
      return link?.value ?? '';
    };
    const deadlineMs = performance.now() + 60_000;
    const isInTime = () => performance.now() < deadlineMs;
    // On a busy machine a link may expire before use; then another one is made.
    let first = '';
    let status = 0;
    while (status !== 200 && isInTime()) {
      first = await upload();
      assert.equal(new URL(first).searchParams.get('X-Amz-Expires'), '2');
      ({ status } = await sendTo(first, 'PUT', {}, Buffer.from('kept')));
    }
    assert.equal(status, 200);
    while (status === 200 && isInTime()) {
      ({ status } = await sendTo(first, 'PUT', {}, Buffer.from('kept')));
    }
    expectRefused(status, 'PUT');
    expectRefused((await sendTo(first, 'PUT', {}, Buffer.from('late'))).status, 'PUT');
    const download = async () => {
      const [link] = expectLinks(await requestDownloadLinks('a', 'analysis', { origin, key: apiKey }));
      return sendTo(link?.value ?? '', 'GET');
    };
    let got = await download();
    while (got.status !== 200 && isInTime()) got = await download();
    assert.equal(got.text, 'kept');
  });
});

function expectRefused(status: number, method: string): void {
  assert.ok(status >= 400 && status < 500, `${method} was answered with ${status}`);
}
