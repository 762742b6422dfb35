// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import { ServiceError } from '../../../src/base/errors/service-error.js';
import { FORM_TYPE, fileEntry, formBody, noise } from '../../support/form-body.js';
import { holdAnalyses } from '../../support/held-analyses.js';
import { postForm, predict, predictHead, RawClient, request } from '../../support/http-client.js';
import { API_KEY, OTHER_API_KEY, startTestServer } from '../../support/test-server.js';

const PATH = '/v1/predict/large-file';
const MIN_BYTES = 5_000_000;
const MAX_BYTES = 5_100_000;
const file = noise(MAX_BYTES + 1);
const limits = { maxLargeFileBytes: MAX_BYTES };

test('a file below, at and above each end of the size range', async (t) => {
  const { port, analyser, arena } = await startTestServer(t, limits);
  const cases: [bytes: number, status: number, message: RegExp][] = [
    [MIN_BYTES - 1, 400, /^The file is smaller than the minimum of 5000000 bytes\. POST \/v1\/predict takes/],
    [MIN_BYTES, 200, /^$/],
    [MIN_BYTES + 1, 200, /^$/],
    [MAX_BYTES - 1, 200, /^$/],
    [MAX_BYTES, 200, /^$/],
    [MAX_BYTES + 1, 413, /^The file exceeds the limit of 5100000 bytes\. POST \/v1\/jobs takes/],
  ];
  for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
    for (const [bytes, status, message] of cases) {
      const body = formBody([fileEntry(file.subarray(0, bytes))]);
      const answer = await postForm(port, PATH, body, { headers });
      assert.equal(answer.status, status, `${bytes} bytes`);
      assert.match(answer.json.message ?? '', message);
      if (status === 200) {
        const sha256 = createHash('sha256').update(file.subarray(0, bytes)).digest('hex');
        assert.equal(analyser.hashes.at(-1), sha256);
      } else {
        assert.equal(answer.json.error, status === 400 ? 'validation_error' : 'payload_too_large');
      }
    }
  }
  assert.equal(arena.usedBytes, 0);
});

test('no size falls between /v1/predict and /v1/predict/large-file', async (t) => {
  const { port } = await startTestServer(t);
  const body = formBody([fileEntry(file.subarray(0, MIN_BYTES))]);
  assert.equal((await predict(port, body)).status, 200);
  assert.equal((await postForm(port, PATH, body)).status, 200);
});

test('a declared size that cannot be right is refused before any of the body is sent', async (t) => {
  const { port, arena } = await startTestServer(t, limits);
  for (const [declaredBytes, status] of [
    [MIN_BYTES - 1, 400],
    [MAX_BYTES + (1 << 20), 413],
  ]) {
    const client = await RawClient.connect(port);
    await client.write(predictHead({ 'content-length': declaredBytes ?? 0 }, PATH));
    const answer = await client.until(/\}\r\n$/);
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
    assert.match(answer, /\r\nconnection: close\r\n/i);
    client.socket.destroy();
  }
  assert.equal(arena.usedBytes, 0);
});

test('a chunked file that is too small or too large is refused as soon as that is known', async (t) => {
  const { port, arena } = await startTestServer(t, limits);
  const chunk = (bytes: Uint8Array) =>
    Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
  // The first ends with the file's part, the second in the middle of the file: neither body is complete.
  const ended = formBody([fileEntry(file.subarray(0, 100_000)), { name: 'device', content: 'api' }]);
  const tooLong = formBody([fileEntry(file)]).subarray(0, MAX_BYTES + 1000);
  for (const [body, status] of [
    [ended.subarray(0, -50), 400],
    [tooLong, 413],
  ] as const) {
    const client = await RawClient.connect(port);
    await client.write(predictHead({ 'transfer-encoding': 'chunked' }, PATH));
    await client.write(chunk(body));
    assert.match(await client.until(/\}\r\n$/), new RegExp(`^HTTP/1\\.1 ${status} `));
    client.socket.destroy();
  }
  assert.equal(arena.usedBytes, 0);
});

test('fields beside the file do not make it larger', async (t) => {
  const { port } = await startTestServer(t, limits);
  const filler = { name: 'note', content: 'x'.repeat(60_000) };
  const body = formBody([filler, fileEntry(file.subarray(0, MIN_BYTES - 50_000)), filler]);
  assert.ok(body.length > MIN_BYTES);
  const answer = await postForm(port, PATH, body);
  assert.equal(answer.status, 400);
  assert.match(answer.json.message, /smaller than the minimum/);
});

test('audio as long as is allowed is asked for; longer is 413 with the measured and the allowed duration', async (t) => {
  const { port, analyser } = await startTestServer(t, { ...limits, maxLargeFileDurationS: 7200 });
  const body = formBody([fileEntry(file.subarray(0, MIN_BYTES))]);
  await postForm(port, PATH, body);
  const [analysed] = analyser.requests;
  assert.equal(analysed?.minDurationS, 1);
  assert.equal(analysed?.maxDurationS, 7200);
  analyser.answer = ({ maxDurationS }) => {
    throw new ServiceError('AUDIO_TOO_LONG', { measuredS: maxDurationS + 0.5, allowedS: maxDurationS });
  };
  const answer = await postForm(port, PATH, body);
  assert.equal(answer.status, 413);
  assert.match(answer.json.message, /7200\.5 s long; at most 7200 s/);
});

test('a large body has a time limit of its own to arrive in, and a large file one to be analysed in', async (t) => {
  const server = await startTestServer(t, {
    ...limits,
    receiveTimeoutMs: 86_400_000,
    largeFileReceiveTimeoutMs: 150,
    largeFileTimeoutMs: 1_234_567,
  });
  const client = await RawClient.connect(server.port);
  await client.write(predictHead({ 'content-length': MIN_BYTES }, PATH));
  assert.match(await client.until(/\}\r\n$/), /^HTTP\/1\.1 408 .*did not arrive within 150 ms/s);
  client.socket.destroy();

  const patient = await startTestServer(t, {
    ...limits,
    receiveTimeoutMs: 100,
    largeFileTimeoutMs: 1_234_567,
  });
  await postForm(patient.port, PATH, formBody([fileEntry(file.subarray(0, MIN_BYTES))]));
  assert.equal(patient.analyser.requests[0]?.longTimeoutMs, 1_234_567);
});

test('other content-types, keys and methods are refused like everywhere', async (t) => {
  const { port } = await startTestServer(t, limits);
  const body = formBody([fileEntry(file.subarray(0, MIN_BYTES))]);
  const post = (headers: Record<string, string>) => request(port, PATH, { method: 'POST', headers, body });
  assert.equal((await post({ 'x-api-key': API_KEY, 'content-type': 'text/plain' })).status, 400);
  assert.equal((await post({ 'x-api-key': API_KEY, 'content-type': 'application/json' })).status, 413);
  assert.equal((await post({ 'x-api-key': 'wrong', 'content-type': FORM_TYPE })).status, 401);
  const get = await request(port, PATH);
  assert.equal(get.status, 405);
  assert.equal(get.headers.allow, 'POST, OPTIONS');
});

test('a large file that is no file, and two of them, are 400', async (t) => {
  const { port } = await startTestServer(t, { maxInflightBytes: 32 << 20, maxLargeFileBytes: 12 << 20 });
  const large = file.subarray(0, MIN_BYTES);
  const filler = { name: 'other', content: large, filename: 'b' };
  for (const [entries, message] of [
    [[fileEntry(large), fileEntry(large)], /field file was given more than once/],
    [[{ name: 'file', content: 'text '.repeat(10) }], /no file in the field file|smaller than/],
  ] as const) {
    const answer = await postForm(port, PATH, formBody(entries));
    assert.equal(answer.status, 400);
    assert.match(answer.json.message, message);
  }
  const missing = await postForm(port, PATH, formBody([filler]));
  assert.equal(missing.status, 400);
});

test('large files leave upload memory to small ones: one too many is refused before its body is sent', async (t) => {
  const { port, analyser, arena, log } = await startTestServer(t, { ...limits, maxInflightBytes: 16 << 20 });
  const { answer } = analyser;
  let finish = (): void => {};
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const bothRun = new Promise<void>((resolve) => {
    analyser.answer = async (analysis) => {
      if (analysis.longTimeoutMs === undefined) return answer(analysis);
      if (analyser.running === 2) resolve();
      await gate;
      return answer(analysis);
    };
  });
  const large = formBody([fileEntry(file.subarray(0, MIN_BYTES))]);
  const first = [postForm(port, PATH, large), postForm(port, PATH, large)];
  await bothRun;
  for (const headers of [{ 'content-length': large.length }, { 'transfer-encoding': 'chunked' }] as Record<
    string,
    string | number
  >[]) {
    const client = await RawClient.connect(port);
    await client.write(predictHead(headers, PATH));
    assert.match(await client.until(/\}\r\n$/), /^HTTP\/1\.1 503 .*bytes of large files in flight/s);
    client.socket.destroy();
  }
  const small = await predict(port, formBody([fileEntry(file.subarray(0, 3_000_000))]));
  assert.equal(small.status, 200);
  finish();
  for (const { status } of await Promise.all(first)) assert.equal(status, 200);

  // Refused, cut-off and answered requests have returned their share.
  for (let round = 1; round <= 3; round++) {
    const cutOff = await RawClient.connect(port);
    await cutOff.write(predictHead({ 'content-length': large.length }, PATH));
    await cutOff.write(large.subarray(0, 2_000_000));
    cutOff.socket.destroy();
    while (log.filter(({ status }) => status === 499).length < round) await nextTick();
    const broken = await postForm(port, PATH, large.subarray(0, large.length - 10));
    assert.equal(broken.status, 400);
    assert.equal((await postForm(port, PATH, large)).status, 200);
  }
  assert.equal(arena.usedBytes, 0);
});

test('one key holds its share of the memory for large files, and another is served meanwhile', async (t) => {
  const server = await startTestServer(t, {
    ...limits,
    maxInflightBytes: 32 << 20,
    keyMemoryPercent: 50,
  });
  const held = holdAnalyses(server);
  const large = formBody([fileEntry(file.subarray(0, MIN_BYTES))]);
  const post = (key: string) => postForm(server.port, PATH, large, { headers: { 'x-api-key': key } });
  const first = [post(API_KEY), post(API_KEY)];
  await held.running(2);
  const refused = await post(API_KEY);
  assert.equal(refused.status, 503);
  assert.match(refused.json.message, /bytes of large files in flight of one key/);
  const other = post(OTHER_API_KEY);
  await held.running(3);
  held.finish();
  for (const { status } of await Promise.all([...first, other])) assert.equal(status, 200);
});
