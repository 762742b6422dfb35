// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import { startFakeStorage } from '../../support/fake-storage.js';
import { fileEntry, formBody, noise } from '../../support/form-body.js';
import { type Answer, predict, predictHead, RawClient } from '../../support/http-client.js';
import { startTestServer } from '../../support/test-server.js';

const JSON_TYPE = { 'content-type': 'application/json' };

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const predictJson = (port: number, body: unknown): Promise<Answer> =>
  predict(port, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), { headers: JSON_TYPE });

test('a body that is no JSON object, or too large, is refused', async (t) => {
  const { port } = await startTestServer(t);
  const cases: [body: string, status: number, message: RegExp][] = [
    ['', 400, /^The body is not a JSON object: /],
    ['{', 400, /^The body is not a JSON object: it cannot be parsed at position 1\.$/],
    [
      '{"presigned_url": secret}',
      400,
      /^The body is not a JSON object: it cannot be parsed( at position \d+)?\.$/,
    ],
    ['[]', 400, /it holds another kind of value\.$/],
    ['null', 400, /it holds another kind of value\.$/],
    ['"https://files.example.com/"', 400, /it holds another kind of value\.$/],
    [`{"presigned_url":"${'a'.repeat(65_536)}"}`, 413, /exceeds the limit of 65536 bytes/],
  ];
  for (const [body, status, message] of cases) {
    const answer = await predictJson(port, body);
    assert.equal(answer.status, status, body.slice(0, 50));
    assert.match(answer.json.message, message);
  }
});

test('presigned_url is needed, and is a string', async (t) => {
  const { port } = await startTestServer(t);
  const cases: [body: unknown, message: string][] = [
    [{}, 'Expected a string for presigned_url but received none.'],
    [{ file: 'x' }, 'Expected a string for presigned_url but received none.'],
    [{ presigned_url: null }, 'Expected a string for presigned_url but received null.'],
    [{ presigned_url: 7 }, 'Expected a string for presigned_url but received a value of type number.'],
    [{ presigned_url: ['a'] }, 'Expected a string for presigned_url but received a value of type array.'],
    [
      '{"__proto__":{"presigned_url":"https://a/"}}',
      'Expected a string for presigned_url but received none.',
    ],
  ];
  for (const [body, message] of cases) {
    const { status, json } = await predictJson(port, body);
    assert.equal(status, 400);
    assert.equal(json.error, 'validation_error');
    assert.equal(json.message, message);
  }
});

test('fields with a wrong value or type are refused before anything is fetched', async (t) => {
  const storage = await startFakeStorage(t, (_, response) => response.end('x'));
  const { port, arena, metric } = await startTestServer(t, {}, { storagePrefixes: () => [storage.origin] });
  const cases: [field: string, value: unknown, message: RegExp][] = [
    [
      'threshold',
      '0.5',
      /^Expected a number from 0 to 1 or the name of an operating point for threshold but received the string "0\.5"\.$/,
    ],
    ['threshold', true, /but received the boolean true\.$/],
    ['threshold', [0.5], /but received an array\.$/],
    ['threshold', { a: 1 }, /but received an object\.$/],
    ['threshold', 1.01, /but received the number 1\.01\.$/],
    ['threshold', -0.01, /but received the number -0\.01\.$/],
    ['threshold', '', /but received an empty value\.$/],
    [
      'silence_threshold',
      100.5,
      /^Expected a number from 0 to 100 for silence_threshold but received the number 100\.5\.$/,
    ],
    ['silence_threshold', '80', /the string "80"/],
    [
      'device',
      'toaster',
      /^Expected one of macos, windows, web_app, api for device but received the string "toaster"\.$/,
    ],
    ['device', 1, /for device but received the number 1\.$/],
    ['model', 'apollo-4-2025-10-20', /for model but received/],
    ['model', false, /for model but received the boolean false\.$/],
    ['prediction_id', 12_345, /^Expected 1 to 128 .* for prediction_id but received the number 12345\.$/],
    ['prediction_id', 'a b', /for prediction_id but received the string "a b"\.$/],
    ['prediction_id', 'a'.repeat(129), /for prediction_id but received the string/],
    ['prediction_id', '', /for prediction_id but received an empty value\.$/],
  ];
  for (const [field, value, message] of cases) {
    const answer = await predictJson(port, { presigned_url: `${storage.origin}/a`, [field]: value });
    assert.equal(answer.status, 400, `${field}=${value}`);
    assert.equal(answer.json.error, 'validation_error');
    assert.match(answer.json.message, message);
  }
  assert.equal(await storage.connections(), 0);
  assert.equal(arena.usedBytes, 0);
  assert.equal(await metric('veravox_fetches_total{outcome="refused"}'), 0);
});

test('a link to anywhere else is refused, in the log without its signature, and nothing is sent', async (t) => {
  const trap = await startFakeStorage(t, (_, response) => response.end('x'));
  const { port, log, metric } = await startTestServer(t);
  const link = `${trap.origin}/file?X-Amz-Signature=secret`;
  const { status, json, text } = await predictJson(port, { presigned_url: link });
  assert.equal(status, 400);
  assert.equal(
    json.message,
    `Expected a link to the configured storage or an allowed host for presigned_url but received one to ${trap.origin}.`,
  );
  const own = await predictJson(port, { presigned_url: `http://127.0.0.1:${port}/metrics?secret` });
  assert.equal(own.status, 400);
  assert.equal(await trap.connections(), 0);
  assert.doesNotMatch(text + own.text + JSON.stringify(log), /secret|file\?/);
  assert.equal(await metric('veravox_fetches_total{outcome="refused"}'), 2);
  assert.equal(await metric('veravox_errors_total{key="FETCH_HOST_REFUSED"}'), 2);
});

test('failures of the storage are ours to the client, and the log has their cause but no link', async (t) => {
  let respond = false;
  const storage = await startFakeStorage(t, (request, response) => {
    if (respond) response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
    else request.socket.destroy();
  });
  const { port, log, arena, metric } = await startTestServer(
    t,
    {},
    { storagePrefixes: () => [storage.origin] },
  );
  const body = { presigned_url: `${storage.origin}/key?X-Amz-Signature=secret` };
  const broken = await predictJson(port, body);
  assert.equal(broken.status, 503);
  assert.equal(broken.json.error, 'unavailable');
  assert.equal(broken.headers['retry-after'], '2');
  assert.equal(
    broken.json.message,
    'The storage behind presigned_url could not be reached; retry after 2 s.',
  );
  assert.match(JSON.stringify(log.at(-1)), /request failed/);
  respond = true;
  const denied = await predictJson(port, body);
  assert.equal(denied.status, 400);
  assert.equal(denied.json.message, 'The storage refused the presigned_url with status 403.');
  assert.doesNotMatch(broken.text + denied.text + JSON.stringify(log), /secret|AccessDenied|\/key/);
  assert.equal(arena.usedBytes, 0);
  assert.equal(await metric('veravox_fetches_total{outcome="failed"}'), 1);
  assert.equal(await metric('veravox_fetches_total{outcome="refused"}'), 1);
});

test('a file over the size limit is 413, as for uploads', async (t) => {
  const storage = await startFakeStorage(t, (_, response) => response.end(noise(100_001)));
  const { port, arena } = await startTestServer(
    t,
    { maxPredictBytes: 100_000 },
    { storagePrefixes: () => [storage.origin] },
  );
  const { status, json } = await predictJson(port, { presigned_url: `${storage.origin}/a` });
  assert.equal(status, 413);
  assert.equal(json.error, 'payload_too_large');
  assert.match(json.message, /exceeds the limit of 100000 bytes\. POST \/v1\/predict\/large-file/);
  assert.equal(arena.usedBytes, 0);
});

test('a client that leaves during the fetch ends it, and its memory is given back', async (t) => {
  let onGone = (): void => {};
  const gone = new Promise<void>((resolve) => {
    onGone = resolve;
  });
  const storage = await startFakeStorage(t, (request, response) => {
    request.socket.once('close', onGone);
    response.write(noise(50_000));
  });
  const { port, arena, log, metric, analyser } = await startTestServer(
    t,
    {},
    { storagePrefixes: () => [storage.origin] },
  );
  const body = JSON.stringify({ presigned_url: `${storage.origin}/a` });
  const client = await RawClient.connect(port);
  await client.write(predictHead({ ...JSON_TYPE, 'content-length': body.length }) + body);
  while (arena.usedBytes === 0) await nextTick();
  client.socket.destroy();
  await gone;
  while (log.every(({ status }) => status !== 499)) await nextTick();
  assert.equal(arena.usedBytes, 0);
  assert.equal(analyser.requests.length, 0);
  assert.equal(await metric('veravox_fetches_total{outcome="abandoned"}'), 1);
  assert.equal(await metric('veravox_errors_total{key="INTERNAL"}'), 0);
});

test('the file behind a link is analysed like one that was uploaded', async (t) => {
  const file = noise(4_000_000);
  const storage = await startFakeStorage(t, ({ url }, response) => {
    if (url === '/declared') response.setHeader('content-length', file.length);
    response.end(file);
  });
  const server = await startTestServer(t, {}, { storagePrefixes: () => [storage.origin] });
  const { port, analyser, arena, log, metric } = server;
  const fields = {
    device: 'api',
    model: 'apollo-4-2026-01-16',
    prediction_id: 'My.own:id_1-2',
    threshold: 0.975,
    silence_threshold: 10,
  };
  const form = Object.entries(fields).map(([name, value]) => ({ name, content: String(value) }));
  const uploaded = await predict(port, formBody([fileEntry(file), ...form]));
  for (const name of ['declared', 'chunked']) {
    const link = `${storage.origin}/${name}`;
    const fetched = await predictJson(port, { presigned_url: link, ...fields, unknown: { is: 'ignored' } });
    assert.equal(fetched.status, 200, fetched.text);
    const { processing_time: _, ...answered } = fetched.json;
    const { processing_time: __, ...expected } = uploaded.json;
    const warnings = ['The field unknown has no effect here.'];
    assert.deepEqual(answered, { ...expected, warnings });
    assert.match(String(fetched.headers['server-timing']), /^receive;dur=[\d.]+, queue;dur=/);
    assert.equal(analyser.requests.at(-1)?.silenceThresholdPercent, 10);
    assert.equal(analyser.requests.at(-1)?.region.length, file.length);
    assert.equal(log.at(-1)?.bodyBytes, file.length);
    assert.equal(log.at(-1)?.fetch, 'fetched');
  }
  assert.deepEqual(analyser.hashes, Array(3).fill(sha256(file)));
  assert.equal(arena.usedBytes, 0);
  assert.equal(await metric('veravox_fetches_total{outcome="fetched"}'), 2);
});

test('null is like not given, and without fields the documented defaults hold', async (t) => {
  const storage = await startFakeStorage(t, (_, response) => response.end(noise(1000)));
  const { port, analyser } = await startTestServer(t, {}, { storagePrefixes: () => [storage.origin] });
  const nothing = {
    device: null,
    model: null,
    prediction_id: null,
    threshold: null,
    silence_threshold: null,
  };
  for (const fields of [{}, nothing]) {
    const { status, json } = await predictJson(port, { presigned_url: `${storage.origin}/a`, ...fields });
    assert.equal(status, 200);
    assert.match(json.prediction_id, /^pred_[0-9a-f]{12}$/);
    assert.equal(json.model, 'apollo-4-5-2026-03-26');
    assert.equal(json.global.result, 'spoofed');
    assert.equal(analyser.requests.at(-1)?.silenceThresholdPercent, 80);
  }
});

test('the receive stage covers the fetch', async (t) => {
  let release = (): void => {};
  const storage = await startFakeStorage(t, (_, response) => {
    release = () => response.end(noise(1000));
  });
  const { port, log } = await startTestServer(t, {}, { storagePrefixes: () => [storage.origin] });
  const pending = predictJson(port, { presigned_url: `${storage.origin}/a` });
  while (storage.requests.length === 0) await nextTick();
  const askedMs = performance.now();
  while (performance.now() - askedMs < 50) await nextTick();
  release();
  await pending;
  const { receive } = (log.at(-1)?.timesMs ?? {}) as { receive?: number };
  assert.ok(receive !== undefined && receive >= 50, `${receive}`);
});
