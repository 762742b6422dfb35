// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Route } from '../../src/api/routes/route.js';
import { noteFields, noteParameters, warningsHeader } from '../../src/api/upload/ignored-fields.js';
import type { ServiceError } from '../../src/base/errors/service-error.js';
import { addUser, signIn } from '../support/admin.js';
import { FORM_TYPE, formBody } from '../support/form-body.js';
import { type Answer, request } from '../support/http-client.js';
import { startJobServer } from '../support/job-server.js';
import { StreamClient } from '../support/stream-client.js';
import { API_KEY, startTestServer } from '../support/test-server.js';

const known = ['threshold', 'model', 'file'];
const notes = (isStrict: boolean, query = '') => ({ isStrict, query, ignored: [] as string[] });
const refused =
  (message: RegExp) =>
  ({ key, message: text }: ServiceError): boolean =>
    key === 'FIELD_UNKNOWN' && message.test(text);

test('in strict mode the first field or parameter without effect is refused by name', () => {
  const fields = refused(/field treshold has no effect here\. Did you mean threshold\?/);
  assert.throws(() => noteFields(notes(true), ['file', 'treshold', 'other'], known), fields);
  const schemas = { threshold: { type: 'number', expected: 'a number' } } as const;
  const given = notes(true, 'treshold=0.9');
  const parameters = refused(/query parameter treshold has no effect here\. Send threshold in the body/);
  assert.throws(() => noteParameters(given, { json: { schemas, example: {} } }), parameters);
  const meant = refused(/treshold has no effect here\. Did you mean threshold\?/);
  assert.throws(() => noteParameters(given, { query: { schemas, example: {} } }), meant);
  assert.doesNotThrow(() => noteFields(notes(true), known, known));
});

test('each is named once, and no more than ten', () => {
  const twice = notes(false);
  noteFields(twice, ['MODLE', 'MODLE', 'quite_another', 'model'], known);
  assert.deepEqual(twice.ignored, [
    'The field MODLE has no effect here. Did you mean model?',
    'The field quite_another has no effect here.',
  ]);
  const many = notes(false);
  noteFields(
    many,
    Array.from({ length: 60 }, (_, i) => `unknown-${i}`),
    known,
  );
  assert.equal(many.ignored.length, 10);
});

test('a header takes names of all kinds, and never grows beyond what proxies take', () => {
  for (const name of [
    'größe',
    'a\r\nset-cookie: b',
    '"\\',
    '😀',
    '\0',
    'x'.repeat(5000),
    '語'.repeat(5000),
  ]) {
    const few = notes(false);
    noteFields(few, [name], known);
    const text = warningsHeader(few.ignored);
    assert.match(text, /^[ -~]*$/);
    assert.deepEqual(JSON.parse(text), few.ignored);
    const many = notes(false);
    noteFields(
      many,
      Array.from({ length: 10 }, (_, i) => `${i}${name}`),
      known,
    );
    const long = warningsHeader(many.ignored);
    assert.ok(long.length <= 2048);
    const shown = JSON.parse(long) as string[];
    assert.ok(shown.length > 0);
    assert.deepEqual(shown, many.ignored.slice(0, shown.length));
  }
});

const part = (name: string, content: string | Buffer, parameters = ''): Buffer =>
  Buffer.concat([
    Buffer.from(`--x\r\ncontent-disposition: form-data; name="${name}"${parameters}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);

test('a request says in the words of its sender what is wrong with it', async (t) => {
  const server = await startTestServer(t);
  const send = (parts: Buffer[], headers: Record<string, string> = {}, change = (body: Buffer) => body) =>
    request(server.port, '/v1/predict', {
      method: 'POST',
      headers: { 'x-api-key': API_KEY, 'content-type': 'multipart/form-data; boundary=x', ...headers },
      body: change(Buffer.concat([...parts, Buffer.from('--x--\r\n')])),
    });
  const file = part('file', 'no audio', '; filename="a.wav"');

  const packed = await send([file], { 'content-encoding': 'gzip' }, gzipSync);
  assert.equal(packed.status, 400);
  assert.match(packed.json.message, /content-encoding but received gzip/);

  const strict = await send([file, part('treshold', '0.9')], { prefer: 'respond-async, handling=strict' });
  assert.deepEqual([strict.status, strict.headers['x-error-key']], [400, 'FIELD_UNKNOWN']);
  assert.match(strict.json.message, /Did you mean threshold/);

  const repeated = await send([file, ...Array.from({ length: 256 }, () => part('voice_vector', '0.1'))]);
  assert.equal(repeated.status, 400);
  assert.match(repeated.json.message, /63 of them with the name "voice_vector"/);

  const path = await send([part('file', 'a.wav')]);
  assert.match(path.json.message, /text without a file name/);

  const binary = await send([part('file', Buffer.from('RIFF\0\0\0\0WAVEfmt '))]);
  assert.notEqual(binary.headers['x-error-key'], 'FILE_MISSING', 'bytes that are no text are the file');
});

/** Misspelt, and close enough to a real field. */
const misspelt = (names: readonly string[]): { wrong: string; meant: string } => {
  const meant = names.find((name) => name.length > 5) ?? names[0] ?? '';
  return { wrong: `${meant}x`, meant };
};

const addressOf = ({ path }: Route): string =>
  `${path.replace(/\{\w+\}/, 'x')}${path.endsWith('/') ? 'x' : ''}`;

function assertNamed(answer: Answer, name: string, kind: string, meant: string): void {
  const text = String(answer.headers['x-warnings'] ?? '[]');
  const sentences = JSON.parse(text) as string[];
  const sentence = sentences.find((one) => one.startsWith(`The ${kind} has no effect here.`));
  assert.ok(sentence?.includes(` ${meant}`), `${name}: ${answer.status} ${text}`);
}

test('every endpoint names misspelt fields and parameters, and refuses them in strict mode', async (t) => {
  const server = await startJobServer(t);
  await addUser(server.database, 'admin');
  const browser = await signIn(server.port, 'admin');
  const routes = server.server.routes
    .filter((route) => !route.isSocket && (route.scope ?? route.role ?? route.operation.json) !== undefined)
    // Requests that end the session come last.
    .toSorted((a, b) => Number(a.path === '/v1/admin/session') - Number(b.path === '/v1/admin/session'));
  const counts = { json: 0, form: 0, query: 0 };
  for (const route of routes) {
    const { operation, method, scope } = route;
    const { json, form, query } = operation;
    const send = (to: string, type: string, body: Buffer, isStrict: boolean) =>
      request(server.port, to, {
        // A watched answer would go on for a minute.
        method: route.isWatch ? 'HEAD' : method,
        headers: {
          ...(scope === undefined
            ? { cookie: browser.cookie, 'x-csrf-token': browser.csrfToken }
            : { 'x-api-key': API_KEY }),
          ...(type !== '' && { 'content-type': type }),
          ...(isStrict && { prefer: 'handling=strict' }),
        },
        ...(body.length > 0 && { body }),
      });
    const expect = async (kind: keyof typeof counts, known: readonly string[]): Promise<void> => {
      counts[kind]++;
      const { wrong, meant } = misspelt(known);
      const name = `${method} ${route.path} ${kind} ${wrong}`;
      const to = kind === 'query' ? `${addressOf(route)}?${wrong}=1` : addressOf(route);
      const file = {
        name: form?.file.field ?? '',
        content: Buffer.alloc(form?.file.minBytes ?? 1),
        filename: 'a',
      };
      const [type, body] = {
        query: ['', Buffer.alloc(0)] as const,
        json: ['application/json', Buffer.from(JSON.stringify({ [wrong]: '1' }))] as const,
        form: [FORM_TYPE, formBody([{ name: wrong, content: '1' }, file])] as const,
      }[kind];
      const strict = await send(to, type, body, true);
      assert.deepEqual([strict.status, strict.headers['x-error-key']], [400, 'FIELD_UNKNOWN'], name);
      const what = kind === 'query' ? `query parameter ${wrong}` : `field ${wrong}`;
      const lenient = await send(to, type, body, false);
      if (method !== 'DELETE') assertNamed(lenient, name, what, meant);
      else
        assert.equal(
          lenient.headers['x-error-key'],
          'FIELD_UNKNOWN',
          `${name}: nothing is deleted by half of a request`,
        );
    };
    if (json !== undefined) await expect('json', Object.keys(json.schemas));
    if (form !== undefined) await expect('form', Object.keys(form.schemas));
    if (scope === undefined && route.role === undefined) continue;
    await expect('query', Object.keys(query?.schemas ?? {}));
    const [parameter = 'any'] = Object.keys(query?.schemas ?? {});
    for (const damaged of ['%', '%zz', '%ff', '%ed%a0%80', 'gr%F6%DFe', '100%&a=b']) {
      const { status, json } = await send(
        `${addressOf(route)}?${parameter}=${damaged}`,
        '',
        Buffer.alloc(0),
        false,
      );
      // HEAD has no body.
      assert.equal(status, 400, `${method} ${route.path} ${damaged}`);
      if (!route.isWatch) assert.match(json.message, new RegExp(`for the query parameter ${parameter} but`));
    }
  }
  assert.ok(counts.json >= 12 && counts.form >= 7 && counts.query >= 50, JSON.stringify(counts));
});

test('fields of the other task of a job have no effect', async (t) => {
  const server = await startJobServer(t);
  const answer = await server.call('POST', '/v1/jobs', { task: 'enroll', key: 'a', threshold: 0.9 });
  assertNamed(answer, 'enroll', 'field threshold', '');
  assert.equal(JSON.parse(String(answer.headers['x-warnings'])).length, 1, 'the task has an effect');
});

test('a stream names misspelt parameters when it is ready', async (t) => {
  const server = await startTestServer(t);
  const start = { type: 'start', encoding: 'pcm16', sample_rate: 16_000 };
  const query = '/v1/stream?encoding=pcm16&sample_rate=16000&treshold=0.9';
  const strict = { prefer: 'handling=strict' };
  for (const [path, message] of [
    [query, undefined],
    ['/v1/stream', { ...start, treshold: 0.9 }],
    // Query parameters do not count if the stream's parameters come in a message.
    ['/v1/stream?threshold=0.9', start],
  ] as const) {
    const client = await StreamClient.open(server.port, { path });
    if (message !== undefined) client.say(message);
    const { warnings } = await client.next('ready');
    assert.equal(warnings.length, 1);
    assert.match(String(warnings[0]), /th?reshold has no effect here/);
    client.vanish();
  }
  const refusal = await StreamClient.connect(server.port, { path: query, headers: strict });
  assert.deepEqual(refusal, { status: 400, key: 'FIELD_UNKNOWN' });
  const client = await StreamClient.open(server.port, { headers: strict });
  client.say({ ...start, treshold: 0.9 });
  assert.deepEqual(await client.ended(), { key: 'FIELD_UNKNOWN', code: 4400 });
});
