// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metricsRoute } from '../../src/api/routes/metrics.js';
import type { RouteRequest } from '../../src/api/routes/route.js';
import { packageCommit, packageVersion } from '../../src/base/config/package-dir.js';
import { catalogue } from '../../src/base/errors/catalogue.js';
import { ServiceMetrics } from '../../src/base/observe/service-metrics.js';
import { skippedWindows, someAnalysis, someSpeakerModel } from '../support/analyser-double.js';
import { fileEntry, formBody, noise } from '../support/form-body.js';
import { predict, request } from '../support/http-client.js';
import { ADMIN_API_KEY, startTestServer } from '../support/test-server.js';

test('livez says nothing about models; readyz is 503 until they are warm', async (t) => {
  const { port, analyser, metric } = await startTestServer(t);
  analyser.currentStatus = {
    ready: false,
    provider: 'cpu',
    models: ['m'],
    detectors: [],
    speakerModels: [],
    fallbackReason: 'no CUDA library',
  };
  assert.equal((await request(port, '/livez')).status, 200);
  const details = { headers: { 'x-api-key': ADMIN_API_KEY } };
  const starting = await request(port, '/readyz', details);
  assert.equal(starting.status, 503);
  assert.deepEqual(starting.json, {
    ready: false,
    state: 'starting',
    version: packageVersion,
    commit: packageCommit,
    provider: 'cpu',
    fallback_reason: 'no CUDA library',
    models: ['m'],
    aliases: {},
    speaker_models: [],
    database: 'up',
    storage: { state: 'up', problem: null },
    wrong_answers: [],
  });
  assert.equal(await metric('veravox_ready'), 0);
  assert.equal(await metric('veravox_cpu_fallback'), 1);

  analyser.currentStatus = {
    ready: true,
    provider: 'cuda',
    models: ['m'],
    detectors: [],
    speakerModels: [someSpeakerModel],
  };
  const ready = await request(port, '/readyz', details);
  assert.equal(ready.status, 200);
  assert.deepEqual(ready.json, {
    ready: true,
    state: 'ready',
    version: packageVersion,
    commit: packageCommit,
    provider: 'cuda',
    fallback_reason: null,
    models: ['m'],
    aliases: {},
    speaker_models: [someSpeakerModel.id],
    database: 'up',
    storage: { state: 'up', problem: null },
    wrong_answers: [],
  });
  assert.equal(await metric('veravox_ready'), 1);
  assert.equal(await metric('veravox_cpu_fallback'), 0);
  assert.equal(await metric('veravox_provider_info{provider="cuda"}'), 1);
  assert.equal(await metric('veravox_provider_info{provider="cpu"}'), 0);
});

test('metrics are written ten times per second at most, however many ask', async (t) => {
  const metrics = new ServiceMetrics();
  let written = 0;
  t.mock.method(metrics, 'text', async () => String(++written));
  const route = metricsRoute(metrics);
  const ask = async (): Promise<string> => String((await route.handle({} as RouteRequest)).body);
  const beganMs = performance.now();
  assert.deepEqual(await Promise.all([ask(), ask(), ask()]), ['1', '1', '1']);
  for (let i = 2; i <= 5; i++) assert.equal(await ask(), String(i));
  assert.ok(performance.now() - beganMs >= 390);
});

test('all series but those of routes are there before the first request, at zero', async (t) => {
  const { port, arena } = await startTestServer(t);
  const { text, headers } = await request(port, '/metrics');
  assert.match(String(headers['content-type']), /^text\/plain; version=0\.0\.4/);
  const series = new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), Number(line.slice(at + 1))] as const;
      }),
  );
  for (const key of Object.keys(catalogue)) assert.equal(series.get(`veravox_errors_total{key="${key}"}`), 0);
  const ofRoutes = (names: Iterable<string>): string[] =>
    [...names].filter((name) => name.includes('route='));
  assert.deepEqual(ofRoutes(series.keys()), [], 'none before the first request of a route');
  assert.ok(text.length < 60_000, `${text.length} characters`);
  for (const stage of ['receive', 'queue', 'decode', 'features', 'inference']) {
    assert.equal(series.get(`veravox_stage_seconds_count{stage="${stage}"}`), 0);
  }
  for (const name of [
    'veravox_requests_in_flight',
    'veravox_uploads_waiting',
    'veravox_client_memory_bytes',
    'veravox_upload_arena_used_bytes',
    'veravox_received_bytes_total',
    'veravox_audio_seconds_total',
    'veravox_windows_scored_total',
    'veravox_skipped_audio_seconds_total',
    'veravox_audit_lines_lost_total',
    'veravox_wrong_answers',
  ]) {
    assert.equal(series.get(name), 0, name);
  }
  assert.equal(series.get('veravox_upload_arena_total_bytes'), arena.totalBytes);
  assert.ok(series.has('nodejs_eventloop_lag_p99_seconds'));
});

test('a route has series for its own answers only', async (t) => {
  const { port } = await startTestServer(t);
  await predict(port, formBody([fileEntry(noise(1000))]));
  const { text } = await request(port, '/metrics');
  const counted = text.split('\n').filter((line) => line.startsWith('veravox_http_requests_total{'));
  assert.deepEqual(counted, ['veravox_http_requests_total{route="/v1/predict",status="200"} 1']);
  assert.match(text, /^veravox_http_request_seconds_count\{route="\/v1\/predict"\} 1$/m);
});

test('a request is counted once, with its stages, and logged in one line', async (t) => {
  const { port, analyser, log, metric } = await startTestServer(t);
  const skipped = [skippedWindows(100, [10, 15]), skippedWindows(100, [20, 25], [25, 30])];
  analyser.answer = () => ({ ...someAnalysis, durationS: 30, skipped });
  const body = formBody([fileEntry(noise(1000))]);
  const { headers } = await predict(port, body);
  await predict(port, formBody([]));
  assert.equal(await metric('veravox_http_requests_total{route="/v1/predict",status="200"}'), 1);
  assert.equal(await metric('veravox_http_requests_total{route="/v1/predict",status="400"}'), 1);
  assert.equal(await metric('veravox_errors_total{key="FILE_MISSING"}'), 1);
  assert.equal(await metric('veravox_stage_seconds_sum{stage="inference"}'), 0.03);
  assert.equal(await metric('veravox_stage_seconds_count{stage="receive"}'), 2);
  assert.equal(await metric('veravox_audio_seconds_total'), 30);
  assert.equal(await metric('veravox_windows_scored_total'), 2);
  assert.equal(await metric('veravox_skipped_audio_seconds_total'), 15);
  assert.equal(await metric('veravox_received_bytes_total'), body.length + formBody([]).length);

  const lines = log.filter((line) => line.correlationId === headers['x-correlation-id']);
  assert.equal(lines.length, 1);
  const { timesMs, time, ...line } = lines[0] ?? {};
  assert.ok(Number.isFinite(time));
  assert.deepEqual(Object.keys(timesMs as object), [
    'total',
    'receive',
    'queue',
    'decode',
    'features',
    'inference',
  ]);
  assert.deepEqual(line, {
    level: 'info',
    correlationId: headers['x-correlation-id'],
    method: 'POST',
    route: '/v1/predict',
    status: 200,
    clientAddress: '127.0.0.1',
    keyId: 'key-1',
    account: 'one',
    bodyBytes: body.length,
    model: 'apollo-4-5-2026-03-26',
    modelIds: ['apollo-4-5-2026-03-26'],
    audioS: 30,
    scoredWindows: 2,
    skippedS: 15,
    msg: 'request',
  });
});

test('paths and methods that callers make up do not become label values', async (t) => {
  const { port } = await startTestServer(t);
  await request(port, '/made-up');
  await request(port, '/livez', { method: 'PROPFIND' });
  const { text } = await request(port, '/metrics');
  assert.doesNotMatch(text, /made-up|PROPFIND/);
});
