// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { downloadLinks, follow, getFile, postFile, stored, uploadLink } from '../../support/file-links.js';
import { RawClient, request } from '../../support/http-client.js';
import { API_KEY, KEY_WITHOUT_SCOPE, OTHER_API_KEY, startTestServer } from '../../support/test-server.js';

const bases = ['/v1', '/v0', ''] as const;
const good = { keys: ['a.wav'], entity: 'analysis' };
const long = (bytes: number) => 'k'.repeat(bytes);

const refusedBodies: readonly [what: string, body: unknown, message: RegExp][] = [
  ['no JSON', '{', /The body is not a JSON object/],
  ['an array', [], /The body is not a JSON object/],
  ['no keys', { entity: 'analysis' }, /Expected an array of 1 to 100 object keys for keys but received none/],
  ['no entity', { keys: ['a'] }, /Expected analysis, or .* for entity but received none/],
  ['an empty list', { ...good, keys: [] }, /1 to 100 object keys for keys but received an empty array/],
  ['101 keys', { ...good, keys: Array(101).fill('a') }, /1 to 100 object keys for keys/],
  [
    'keys that are a text',
    { ...good, keys: 'a.wav' },
    /1 to 100 object keys for keys but received the string "a.wav"/,
  ],
  [
    'a key that is a number',
    { ...good, keys: ['a', 7] },
    /Expected a key .* for keys\[1\] but received the number 7/,
  ],
  ['an empty key', { ...good, keys: [''] }, /for keys\[0\] but received an empty value/],
  ['a key of 513 bytes', { ...good, keys: [long(513)] }, /for keys\[0\]/],
  [
    'a key of 513 bytes in fewer characters',
    { ...good, keys: [`${long(511)}é`] },
    /at most 512 bytes of UTF-8 for keys\[0\] but received 513 bytes/,
  ],
  ['a leading slash', { ...good, keys: ['/a'] }, /for keys\[0\] but received the string "\/a"/],
  ['a parent segment', { ...good, keys: ['a/../b'] }, /for keys\[0\]/],
  ['only a parent segment', { ...good, keys: ['..'] }, /for keys\[0\]/],
  ['a parent segment behind a line separator', { ...good, keys: ['a\u2028/../b'] }, /for keys\[0\]/],
  ['a segment of one dot', { ...good, keys: ['a/./b'] }, /for keys\[0\]/],
  ['a control character', { ...good, keys: ['a\u0000b'] }, /for keys\[0\]/],
  ['a line break', { ...good, keys: ['a\nb'] }, /for keys\[0\]/],
  ['half a surrogate pair', '{"keys":["\\ud800"],"entity":"analysis"}', /for keys\[0\]/],
  ['an entity in capitals', { ...good, entity: 'Analysis' }, /for entity but received the string "Analysis"/],
  ['an entity in brackets', { ...good, entity: ['analysis'] }, /for entity but received an array/],
  ['an entity with a slash', { ...good, entity: 'a/b' }, /for entity/],
  ['an entity of 33 characters', { ...good, entity: long(33) }, /for entity/],
  ['an empty entity', { ...good, entity: '' }, /for entity but received an empty value/],
];

test('POST /file refuses what it cannot make links for, with 400 and the reason', async (t) => {
  const server = await startTestServer(t);
  for (const [what, body, message] of refusedBodies) {
    const { status, json } = await postFile(server, body);
    assert.equal(status, 400, what);
    assert.equal(json.error, 'validation_error', what);
    assert.match(json.message, message, what);
  }
});

test('GET /file refuses missing, repeated and malformed parameters', async (t) => {
  const server = await startTestServer(t);
  const refused: readonly [query: string, message: RegExp][] = [
    ['', /for key_prefix but received none/],
    ['?', /for key_prefix but received none/],
    ['?entity=analysis', /for key_prefix but received none/],
    ['?key_prefix=a', /for entity but received none/],
    ['?key_prefix=a&entity=', /for entity but received an empty value/],
    ['?key_prefix=a&entity=..', /for entity but received "\.\."/],
    ['?key_prefix=a&key_prefix=b&entity=analysis', /The field key_prefix was given more than once/],
    ['?key_prefix=../a&entity=analysis', /for key_prefix but received "\.\.\/a"/],
    ['?key_prefix=a%2F..%2F&entity=analysis', /for key_prefix/],
    ['?key_prefix=%2Fa&entity=analysis', /for key_prefix/],
    ['?key_prefix=a%0Ab&entity=analysis', /for key_prefix/],
    [`?key_prefix=${long(513)}&entity=analysis`, /for key_prefix/],
  ];
  for (const [query, message] of refused) {
    const { status, json } = await getFile(server, query);
    assert.equal(status, 400, query);
    assert.match(json.message, message, query);
  }
});

test('another content-type is 400, a body over the limit 413, another method 405', async (t) => {
  const { port } = await startTestServer(t);
  const headers = { 'x-api-key': API_KEY, 'content-type': 'text/plain' };
  const body = Buffer.from(JSON.stringify(good));
  const plain = await request(port, '/v1/file', { method: 'POST', headers, body });
  assert.equal(plain.status, 400);
  const large = await postFile({ port }, { ...good, padding: long(600_000) });
  assert.equal(large.status, 413);
  const put = await request(port, '/v1/file', { method: 'PUT', headers: { 'x-api-key': API_KEY } });
  assert.equal(put.status, 405);
  assert.equal(put.headers.allow, 'POST, GET, HEAD, DELETE, OPTIONS');
});

test('a key is needed, and one with the scope; v0 says 403 where v1 says 401', async (t) => {
  const server = await startTestServer(t);
  for (const base of bases) {
    const unauthorized = base === '/v1' ? 401 : 403;
    assert.equal((await postFile(server, good, { base, apiKey: 'wrong' })).status, unauthorized);
    assert.equal((await getFile(server, '?', { base, apiKey: 'wrong' })).status, unauthorized);
    for (const answer of [
      await postFile(server, good, { base, apiKey: KEY_WITHOUT_SCOPE }),
      await getFile(server, '?', { base, apiKey: KEY_WITHOUT_SCOPE }),
    ]) {
      assert.equal(answer.status, 403);
      assert.equal(answer.json.error, 'forbidden');
      assert.match(answer.json.message, /scope file/);
    }
  }
});

test('v0 and the unversioned base say that they are deprecated, v1 does not', async (t) => {
  const server = await startTestServer(t);
  for (const base of bases) {
    const { headers } = await postFile(server, good, { base });
    assert.equal(headers.deprecation !== undefined, base !== '/v1');
    assert.equal(headers.link, base === '/v1' ? undefined : '</v1/file>; rel="successor-version"');
  }
});

test('a host header that is no host is refused', async (t) => {
  const { port } = await startTestServer(t);
  const body = JSON.stringify(good);
  const client = await RawClient.connect(port);
  const head = `POST /v1/file HTTP/1.1\r\nhost: a/b?c\r\nx-api-key: ${API_KEY}\r\ncontent-type: application/json\r\n`;
  await client.write(`${head}content-length: ${body.length}\r\n\r\n${body}`);
  assert.match(await client.until(/\}$/), /^HTTP\/1\.1 400 [\s\S]*for the host header but received/);
  client.socket.destroy();
});

test('one link per key, in order, with the entity in front of the key, and nothing else in the answer', async (t) => {
  const server = await startTestServer(t);
  const keys = ['b.wav', 'a/b c.wav', 'é !\'()*+&=?#%"<>\\~.wav', 'b.wav', long(512), 'a..b/...'];
  for (const base of bases) {
    const { status, json } = await postFile(server, { keys, entity: 'results', extra: 1 }, { base });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(json), ['url']);
    assert.deepEqual(
      json.url.map((link: object) => Object.keys(link)),
      keys.map(() => ['key', 'value']),
    );
    assert.deepEqual(
      json.url.map(({ key }: { key: string }) => key),
      keys.map((key) => `results/${key}`),
    );
    for (const { value } of json.url) assert.ok(value.startsWith(`http://127.0.0.1:${server.port}/`), value);
  }
});

test('100 keys are the most', async (t) => {
  const server = await startTestServer(t);
  const keys = Array.from({ length: 100 }, (_, i) => `${i}${long(500)}`);
  assert.equal((await postFile(server, { ...good, keys })).json.url.length, 100);
});

test('what was uploaded is listed by the start of its key, and fetched unchanged', async (t) => {
  const server = await startTestServer(t);
  const keys = [
    'rec/é b.wav',
    'rec',
    'rec/a.wav',
    'rec/a.wav/part',
    'recent.wav',
    'other',
    `rec/${long(508)}`,
    'rec/A.wav',
    '.well-known/a',
    '..b',
    'rec/.c',
  ];
  for (const key of keys) await stored(server, key, Buffer.from(`content of ${key}`));
  const listed = async (prefix: string) => (await downloadLinks(server, prefix)).map(({ key }) => key);
  const sorted = (prefix: string) =>
    keys
      .filter((key) => key.startsWith(prefix))
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .map((key) => `analysis/${key}`);
  for (const prefix of [
    '',
    '.',
    '..',
    'rec/.',
    'rec/..',
    'rec',
    'rec/',
    'rec/a',
    'rec/a.wav',
    'rec/é',
    'other',
    `rec/${long(100)}`,
    `rec/${long(508)}`,
  ]) {
    assert.deepEqual(await listed(prefix), sorted(prefix), prefix);
  }
  assert.deepEqual(await listed('nothing'), []);
  assert.deepEqual(await listed(`rec/${long(507)}l`), []);
  const empty = await getFile(server, '?key_prefix=&entity=results');
  assert.deepEqual(empty.json, { url: [] });
  for (const { key, value } of await downloadLinks(server, '')) {
    assert.equal((await follow(value)).text, `content of ${key.slice('analysis/'.length)}`);
  }
});

test('at most 1,000 links are given, the first ones', async (t) => {
  const server = await startTestServer(t);
  const keys = Array.from({ length: 1003 }, (_, i) => `${String(i).padStart(4, '0')}.wav`);
  for (let from = 0; from < keys.length; from += 100) {
    const { json } = await postFile(server, { keys: keys.slice(from, from + 100), entity: 'analysis' });
    await Promise.all(
      json.url.map(({ value }: { value: string }) => follow(value, { method: 'PUT', body: Buffer.of(1) })),
    );
  }
  const links = await downloadLinks(server, '');
  assert.deepEqual(
    links.map(({ key }) => key),
    keys.slice(0, 1000).map((key) => `analysis/${key}`),
  );
});

test("another account's objects are neither listed nor reached", async (t) => {
  const server = await startTestServer(t);
  const mine = await stored(server, 'same.wav', Buffer.from('mine'));
  const others = { apiKey: OTHER_API_KEY };
  assert.deepEqual(await downloadLinks(server, '', others), []);
  const theirUpload = await uploadLink(server, 'same.wav', others);
  assert.equal((await follow(theirUpload, { method: 'PUT', body: Buffer.from('theirs') })).status, 200);
  assert.equal((await follow(mine)).text, 'mine');
  const [theirs] = await downloadLinks(server, '', others);
  assert.equal((await follow(theirs?.value ?? '')).text, 'theirs');
  assert.equal((await downloadLinks(server, '')).length, 1);

  const folderOf = (link: string) => link.split('/')[4] ?? '';
  assert.match(folderOf(mine), /^[0-9a-f]{32}$/);
  assert.notEqual(folderOf(mine), folderOf(theirUpload));
  assert.equal((await follow(mine.replace(folderOf(mine), folderOf(theirUpload)))).status, 403);
});

test('the folder of an account differs from server to server, so that nobody can work it out', async (t) => {
  const folders = await Promise.all(
    [1, 2].map(async () => (await uploadLink(await startTestServer(t), 'a')).split('/')[4]),
  );
  assert.notEqual(folders[0], folders[1]);
});
