// SPDX-License-Identifier: Apache-2.0
//
// Fields, headers and JSON made to keep the server busy: each costs little, and is refused with a clear
// message.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_NUMBER_CHARS } from '../../../src/api/routes/form-fields.js';
import { parseObject } from '../../../src/api/upload/json-body.js';
import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from '../../../src/api/upload/json-limits.js';
import { MAX_VOICE_VECTOR_CHARS } from '../../../src/base/contract/limits.js';
import { BOUNDARY, type FormEntry, fileEntry, formBody } from '../../support/form-body.js';
import { type Answer, postForm, predict, request } from '../../support/http-client.js';
import { documentOf } from '../../support/openapi.js';
import { API_KEY, startTestServer } from '../../support/test-server.js';
import { audioEntry, verify } from '../../support/voiceid-client.js';

const LONGEST_FIELD_CHARS = 64 * 1024;
/** Seconds if something takes quadratic time. CPU time, since a busy machine takes longer, but not more of it. */
const MAX_CPU_MS = 1500;

async function assertCheap(what: string, work: () => Promise<unknown>): Promise<void> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  assert.ok((user + system) / 1000 < MAX_CPU_MS, `${what} took ${(user + system) / 1000} ms`);
}

const hostile = (unit: string, chars: number): string =>
  `${unit.repeat(Math.floor((chars - 1) / unit.length))}x`;

function postJson(port: number, path: string, body: string): Promise<Answer> {
  const headers = { 'x-api-key': API_KEY, 'content-type': 'application/json' };
  return request(port, path, { method: 'POST', headers, body: Buffer.from(body) });
}

function assertRefused(answer: Answer, message: RegExp): void {
  assert.equal(answer.status, 400, answer.text);
  assert.equal(answer.json.error, 'validation_error');
  assert.match(answer.json.message, message);
}

test('no field of any form can keep the server busy', async (t) => {
  const { port, origin } = await startTestServer(t);
  const { paths } = await documentOf(origin);
  let tried = 0;
  for (const [path, { post }] of Object.entries(paths)) {
    const fields = post?.requestBody?.content['multipart/form-data']?.schema.properties ?? {};
    for (const [name, { format }] of Object.entries(fields)) {
      if (format === 'binary') continue;
      for (const unit of ['1', '1.', ' ', '=', '-', '[', 'a_', '"', '\\', '\r\n\t']) {
        const content = hostile(unit, LONGEST_FIELD_CHARS);
        const body = formBody([
          { name, content },
          { name: 'padding', content: '' },
        ]);
        await assertCheap(`${path} ${name} ${JSON.stringify(unit)}`, () => postForm(port, path, body));
        tried++;
      }
    }
  }
  assert.ok(tried >= 100, String(tried));
});

test('no header of a part can keep the server busy', async (t) => {
  const { port } = await startTestServer(t);
  const lines = [
    `form-data; name="file"${hostile(' ', 8000)}`,
    `form-data; name="file"${hostile(' \t', 8000)}`,
    `form-data; name="file"${hostile(' ;', 8000)}`,
    `form-data; name="${hostile('\\', 8000)}`,
    `form-data; name="${hostile('\\"', 8000)}`,
    `form-data; name="file"; filename*=utf-8'${hostile("'", 8000)}`,
    `form-data; name="file"; filename*=utf-8''${hostile('%2', 8000)}`,
    `form-data${hostile('; a=""', 8000)}`,
    `form-data${hostile('; a="', 8000)}`,
    `form-data${hostile(' ', 8000)}`,
    `form-data; name="file"${hostile('\r\n ', 8000)}`,
  ];
  for (const line of lines) {
    const body = Buffer.from(
      `--${BOUNDARY}\r\ncontent-disposition: ${line}\r\n\r\nabc\r\n--${BOUNDARY}--\r\n`,
    );
    await assertCheap(line.slice(0, 60), () => predict(port, body));
  }
  const body = Buffer.from(
    `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"${hostile(' ', 8000)}\r\n\r\nabc\r\n--${BOUNDARY}--\r\n`,
  );
  assertRefused(await predict(port, body), /no valid content-disposition/);
});

test('no header of a request can keep the server busy, and a head that is too long is refused', async (t) => {
  const { port } = await startTestServer(t);
  for (const type of [
    `multipart/form-data${hostile(' ', 3000)}`,
    `multipart/form-data; boundary=${hostile(' ', 3000)}`,
    `multipart/form-data; boundary="${hostile('\\"', 3000)}`,
    `application/json${hostile(' ', 3000)}`,
  ]) {
    await assertCheap(type.slice(0, 40), () =>
      predict(port, Buffer.from(''), { headers: { 'content-type': type } }),
    );
  }
  const query = hostile('key_prefix=a&', 100_000);
  const { status } = await request(port, `/v1/file?${query}`, { headers: { 'x-api-key': API_KEY } });
  assert.equal(status, 431);
});

test('a number has a limit of characters, and is taken up to it', async (t) => {
  const { port, analyser } = await startTestServer(t);
  const zeros = (chars: number): string => `0.5${'0'.repeat(chars - 3)}`;
  const silence = (content: string): FormEntry => ({ name: 'silence_threshold', content });
  const send = (content: string) => predict(port, formBody([silence(content), fileEntry('x')]));
  assert.equal((await send(zeros(MAX_NUMBER_CHARS))).status, 200);
  assert.equal(analyser.requests[0]?.silenceThresholdPercent, 0.5);
  assertRefused(
    await send(zeros(MAX_NUMBER_CHARS + 1)),
    /^Expected a number from 0 to 100 for silence_threshold but received "0\.50+"\.$/,
  );
  for (const number of ['1.', '.5', '+1', '1e1', '1.e1', '01', '1E+1', '-0'])
    assert.equal((await send(number)).status, 200, number);
  for (const text of ['.', '1e', 'e1', '1..', '1.1.', '+-1', '0x1', ' 1', '1\n', ''])
    assertRefused(await send(text), /for silence_threshold/);
});

test('JSON that is nested too deeply or holds too much is refused before it is parsed', async (t) => {
  const { port } = await startTestServer(t);
  const depths = `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`;
  const keys = `{${Array.from({ length: 7000 }, (_, i) => `"${i}":1`).join()}}`;
  for (const path of ['/v1/predict', '/v0/predict', '/v1/file']) {
    await assertCheap(path, async () => {
      assertRefused(await postJson(port, path, depths), /exceeds a limit: nested more than 8 deep\.$/);
      assertRefused(await postJson(port, path, keys), /exceeds a limit: more than 1000 names and values\.$/);
      // Cut off inside a string, and an incomplete escape.
      assertRefused(await postJson(port, path, `{"a":"${'['.repeat(100)}`), /not a JSON object/);
      assertRefused(await postJson(port, path, '{"a":"\\'), /not a JSON object/);
    });
  }
});

test('JSON is taken up to its limits, and what stands in strings does not count', async (t) => {
  const { port } = await startTestServer(t);
  const nested = '['.repeat(MAX_JSON_DEPTH - 1) + ']'.repeat(MAX_JSON_DEPTH - 1);
  // Two names and values belong to the object itself; each comma adds one.
  const commas = JSON.stringify(Array.from({ length: MAX_JSON_VALUES - 50 }, () => 1));
  const text = JSON.stringify(`${'[{,:'.repeat(2000)}\\"`);
  for (const extra of [nested, commas, text]) {
    const answer = await postJson(port, '/v1/file', `{"keys":["a"],"entity":"analysis","extra":${extra}}`);
    assert.equal(answer.status, 200, answer.text);
  }
  const all = Array.from({ length: 100 }, (_, i) => `${'k'.repeat(500)}${i}`);
  assert.equal(
    (await postJson(port, '/v1/file', JSON.stringify({ keys: all, entity: 'analysis' }))).status,
    200,
  );
});

test('a long name is read once, however many colons follow it', async () => {
  // The size of the longest JSON body, that of a batch.
  const body = Buffer.from(`{"${'a'.repeat(4 << 20)}"${':'.repeat(MAX_JSON_VALUES - 2)}0}`);
  await assertCheap('a name and colons', async () => {
    assert.throws(() => parseObject(body), { key: 'JSON_MALFORMED' });
  });
});

test('a voiceprint has a limit of characters', async (t) => {
  const { port } = await startTestServer(t);
  const numbers = (padding: number): string => `[${'0.5,'.repeat(255)}0.5${' '.repeat(padding)}]`;
  const send = (content: string) => verify(port, [{ name: 'voice_vector', content }, audioEntry('a')]);
  const padded = numbers(MAX_VOICE_VECTOR_CHARS - numbers(0).length);
  // Of another model: its text was read.
  assertRefused(await send(padded), /^Expected an embedding made by /);
  assertRefused(await send(`${padded} `), /^Expected a JSON array of 256 .* for voice_vector but received/);
});
