// SPDX-License-Identifier: Apache-2.0
//
// Requests as a collector sees them, through OpenTelemetry's own exporter.
import assert from 'node:assert/strict';
import net from 'node:net';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import type { Config } from '../../src/base/config/options.js';
import { ServiceMetrics } from '../../src/base/observe/service-metrics.js';
import type { Tracing } from '../../src/base/tracing/tracing.js';
import { openTracing, type TracingSettings } from '../../src/service/open-tracing.js';
import { someAnalysis } from '../support/analyser-double.js';
import { startFakeStorage } from '../support/fake-storage.js';
import { fileEntry, formBody, noise } from '../support/form-body.js';
import { predict, request } from '../support/http-client.js';
import { startCollector } from '../support/otlp-collector.js';
import { StreamClient } from '../support/stream-client.js';
import { allowedHosts } from '../support/test-fetcher.js';
import { API_KEY } from '../support/test-keys.js';
import { startTestServer, type TestParts, testConfig } from '../support/test-server.js';
import { until } from '../support/until.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const form = formBody([fileEntry(noise(2000))]);

/** A server that sends traces to `url`; the test decides when to export them. */
async function serve(
  t: TestContext,
  url: string,
  { settings = {}, ...parts }: TestParts & { settings?: Partial<TracingSettings> } = {},
  overrides: Partial<Config> = {},
) {
  const metrics = new ServiceMetrics();
  const log = pino({ level: 'silent' });
  const otlpEndpoint = `${url}/v1/traces`;
  const tracing = await openTracing({ ...testConfig, otlpEndpoint, ...settings }, metrics, log);
  assert.ok(tracing);
  const server = await startTestServer(t, overrides, { ...parts, metrics, tracing });
  t.after(() => tracing.close());
  // Shorter than the request itself.
  const timesMs = { queue: 0.01, decode: 0.02, features: 0.03, inference: 0.04 };
  server.analyser.answer = () => ({ ...someAnalysis, timesMs });
  return { ...server, tracing: tracing as Tracing };
}

const series = (reason: string): string => `veravox_trace_spans_dropped_total{reason="${reason}"}`;

test('a traceparent that is not valid is ignored', async (t) => {
  const collector = await startCollector(t);
  const { port } = await serve(t, collector.url);
  for (const traceparent of [
    '',
    'x',
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-01-`,
    `00-${TRACE}-${SPAN}-01-more`,
    `ff-${TRACE}-${SPAN}-01`,
    `0-${TRACE}-${SPAN}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `01-${TRACE}-${SPAN}-01more`,
    [`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`],
    `00-${'a'.repeat(30_000)}-${SPAN}-01`,
  ]) {
    const { status, headers } = await predict(port, form, { headers: { traceparent } });
    assert.equal(status, traceparent.length > 10_000 ? 431 : 200);
    assert.ok(!String(headers.traceresponse).includes(TRACE), String(traceparent));
  }
  // A later version may report more.
  const later = await predict(port, form, { headers: { traceparent: `01-${TRACE}-${SPAN}-01-more` } });
  assert.match(String(later.headers.traceresponse), new RegExp(`^00-${TRACE}-(?!${SPAN})[0-9a-f]{16}-01$`));
});

test('a predict request continues the trace of its sender, and its stages are its parts', async (t) => {
  const collector = await startCollector(t);
  const { port, tracing, log, metric } = await serve(t, collector.url, {
    settings: { otlpHeaders: () => ({ 'x-token': 'collectors-secret' }), serviceName: 'voices' },
  });
  const beganMs = Date.now();
  const answer = await predict(port, form, { headers: { traceparent: `00-${TRACE}-${SPAN}-01` } });
  assert.equal(answer.status, 200);
  await tracing.close();
  const span = await collector.named('POST /v1/predict');
  assert.deepEqual(
    [span.traceId, span.parentId, span.kind, span.hasFailed, answer.headers.traceresponse],
    [TRACE, SPAN, 'server', false, `00-${TRACE}-${span.spanId}-01`],
  );
  assert.deepEqual(span.attributes, {
    'http.request.method': 'POST',
    'http.route': '/v1/predict',
    'http.response.status_code': 200,
    'http.request.body.size': form.length,
    'url.path': '/v1/predict',
    'veravox.correlation_id': answer.headers['x-correlation-id'],
    'veravox.key_id': 'key-1',
    'veravox.account': 'one',
    'veravox.model': 'apollo-4-5-2026-03-26',
    'veravox.model_ids': ['apollo-4-5-2026-03-26'],
    'veravox.audio_s': 10,
    'veravox.scored_windows': 2,
  });
  const parts = collector.partsOf(span);
  assert.deepEqual(
    parts.map(({ name }) => name),
    ['receive', 'queue', 'decode', 'features', 'score'],
  );
  assert.equal(collector.spans.length, 6);
  const lengths = parts.slice(1).map(({ startMs, endMs }) => endMs - startMs);
  for (const [i, expectedMs] of [0.01, 0.02, 0.03, 0.04].entries()) {
    assert.ok(Math.abs((lengths[i] ?? 0) - expectedMs) < 0.002, String(lengths));
  }
  for (const { startMs, endMs } of [span, ...parts]) {
    assert.ok(
      beganMs - 50 < span.startMs && span.startMs <= startMs && startMs <= endMs && endMs <= span.endMs,
    );
  }
  assert.deepEqual([span.resource['service.name'], span.resource['process.pid']], ['voices', process.pid]);
  const [line] = log.filter(({ route }) => route === '/v1/predict');
  assert.deepEqual([line?.trace_id, line?.trace], [TRACE, undefined]);
  const [sent] = collector.requests;
  assert.deepEqual([sent?.path, sent?.headers['x-token']], ['/v1/traces', 'collectors-secret']);
  assert.ok(!sent?.body.includes(API_KEY));
  assert.equal(await metric('veravox_trace_spans_exported_total'), 6);
});

test('who sends a traceparent decides whether it is exported; of other traces, the configured share is', async (t) => {
  const collector = await startCollector(t);
  const settings = { traceSampler: 'parentbased_traceidratio', traceSamplerRatio: 0 } as const;
  const { port, tracing } = await serve(t, collector.url, { settings });
  const unsampled = await predict(port, form, { headers: { traceparent: `00-${TRACE}-${SPAN}-00` } });
  assert.match(String(unsampled.headers.traceresponse), new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
  const own = await predict(port, form);
  assert.match(String(own.headers.traceresponse), /-00$/);
  await predict(port, form, { headers: { traceparent: `00-${TRACE}-${SPAN}-03` } });
  await tracing.close();
  assert.deepEqual(
    collector.spans.filter(({ kind }) => kind === 'server').map(({ parentId }) => parentId),
    [SPAN],
  );
});

test('without parentbased_ in its name, a sampler decides whatever the sender says', async (t) => {
  for (const [settings, exported] of [
    [{ traceSampler: 'always_on' }, 2],
    [{ traceSampler: 'always_off' }, 0],
    [{ traceSampler: 'traceidratio', traceSamplerRatio: 1 }, 2],
    [{ traceSampler: 'traceidratio', traceSamplerRatio: 0 }, 0],
    [{ traceSampler: 'parentbased_always_on', traceSamplerRatio: 0 }, 1],
    [{ traceSampler: 'parentbased_always_off' }, 1],
  ] as const) {
    const collector = await startCollector(t);
    const { port, tracing } = await serve(t, collector.url, { settings });
    for (const flag of ['00', '01'])
      await predict(port, form, { headers: { traceparent: `00-${TRACE}-${SPAN}-${flag}` } });
    await tracing.close();
    const servers = collector.spans.filter(({ kind }) => kind === 'server');
    assert.equal(servers.length, exported, JSON.stringify(settings));
  }
});

test('only the configured storage learns of the trace behind a link', async (t) => {
  const collector = await startCollector(t);
  const storage = await startFakeStorage(t, (_, response) => response.end(noise(3000)));
  const allowed = `http://files.example.com:${storage.port}`;
  const parts = {
    storagePrefixes: () => [`${storage.origin}/`],
    fetchSurroundings: {
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
      isPublicAddress: () => true,
    },
  };
  const { port, tracing } = await serve(t, collector.url, parts, {
    fetchAllowedHosts: allowedHosts([allowed]),
  });
  for (const origin of [storage.origin, allowed]) {
    const body = Buffer.from(JSON.stringify({ presigned_url: `${origin}/name?X-Amz-Signature=secret` }));
    const answer = await predict(port, body, { headers: { 'content-type': 'application/json' } });
    assert.equal(answer.status, 200, answer.text);
  }
  await tracing.close();
  const [fetch = assert.fail(), ...more] = collector.spans.filter(({ name }) => name === 'fetch');
  assert.deepEqual([fetch.kind, fetch.hasFailed, more.length], ['client', false, 1]);
  assert.deepEqual(
    storage.requests.map(({ headers }) => headers.traceparent),
    [`00-${fetch.traceId}-${fetch.spanId}-01`, undefined],
  );
  const requests = collector.spans.filter(({ name }) => name === 'POST /v1/predict');
  assert.deepEqual(
    requests.map((span) => collector.partsOf(span).map(({ name }) => name)),
    Array(2).fill(['fetch', 'queue', 'decode', 'features', 'score']),
  );
  assert.doesNotMatch(JSON.stringify(collector.requests), /example|secret/);
});

test('what the storage takes of a request is a part of it', async (t) => {
  const collector = await startCollector(t);
  const { port, tracing } = await serve(t, collector.url);
  const headers = { 'x-api-key': API_KEY };
  const query = 'entity=analysis';
  assert.equal((await request(port, `/v1/file?key_prefix=secret&${query}`, { headers })).status, 200);
  assert.equal(
    (await request(port, `/v1/file?key=secret&${query}`, { method: 'DELETE', headers })).status,
    200,
  );
  await tracing.close();
  const requests = collector.spans.filter(({ kind }) => kind === 'server');
  assert.deepEqual(
    requests.map((span) => [span.name, ...collector.partsOf(span).map(({ name }) => name)]),
    [
      ['GET /v1/file', 'storage'],
      ['DELETE /v1/file', 'storage'],
    ],
  );
  assert.doesNotMatch(JSON.stringify(collector.requests), /secret/);
});

test('failures of the server are failures; paths, names and probes stay out', async (t) => {
  const collector = await startCollector(t);
  const { port, tracing, analyser } = await serve(t, collector.url);
  analyser.answer = () => {
    throw new Error('a secret cause');
  };
  assert.equal((await predict(port, form)).status, 500);
  assert.equal((await request(port, '/v1/secret-path?secret=query')).status, 404);
  assert.equal((await request(port, '/v1/predict', { method: 'BREW' })).status, 405);
  assert.equal((await request(port, '/v1/jobs/secret-id')).status, 401);
  for (const probe of ['/livez', '/readyz', '/metrics']) {
    assert.equal((await request(port, probe)).headers.traceresponse, undefined);
  }
  await tracing.close();
  const facts = collector.spans
    .filter(({ kind }) => kind === 'server')
    .map(({ name, hasFailed, attributes }) => [
      name,
      hasFailed,
      attributes['http.response.status_code'],
      attributes['error.type'] ?? attributes['veravox.error_key'],
    ]);
  assert.deepEqual(facts, [
    ['POST /v1/predict', true, 500, 'INTERNAL'],
    ['GET other', false, 404, 'NOT_FOUND'],
    ['/v1/predict', false, 405, 'METHOD_NOT_ALLOWED'],
    ['GET /v1/jobs/', false, 401, 'UNAUTHORIZED'],
  ]);
  assert.doesNotMatch(JSON.stringify(collector.requests), /secret|BREW/);
});

test('a stream is one span, however often its connection was lost', async (t) => {
  const collector = await startCollector(t);
  const { port, tracing, analyser } = await serve(t, collector.url);
  const path = '/v1/stream?encoding=pcm16&sample_rate=16000';
  const headers = { traceparent: `00-${TRACE}-${SPAN}-01` };
  const client = await StreamClient.open(port, { path, headers });
  const { session_id, secret } = await client.next('ready');
  client.audio(new Uint8Array(320));
  await until(() => analyser.liveStreams[0]?.pieces.length === 1);
  client.vanish();
  await until(() => client.isClosed);
  const again = await StreamClient.open(port);
  again.say({ type: 'resume', session_id, secret, events: 0 });
  await again.next('resumed');
  again.say({ type: 'end' });
  await until(() => analyser.liveStreams[0]?.isFinished === true);
  analyser.liveStreams[0]?.tellEnd(10);
  await again.finished;
  await tracing.close();
  assert.deepEqual(
    collector.spans.map(({ name, parentId }) => [name, parentId]),
    [['stream', SPAN]],
  );
});

test('spans that the collector refuses are counted, and its answers change nothing else', async (t) => {
  const collector = await startCollector(t, (response) => response.writeHead(403).end('x'.repeat(100_000)));
  const { port, tracing, metric } = await serve(t, collector.url);
  assert.equal((await predict(port, form)).status, 200);
  await tracing.close();
  assert.equal(await metric(series('export_failed')), 6);
  assert.equal((await predict(port, form)).status, 200);
});

test('a collector that is gone or never answers costs spans, and no request waits', async (t) => {
  const gone = await serve(t, 'http://127.0.0.1:9');
  assert.equal((await predict(gone.port, form)).status, 200);
  const silent = net.createServer((socket) => void socket.on('error', () => {})).listen(0, '127.0.0.1');
  t.after(() => silent.close());
  await until(() => silent.listening);
  const { port } = silent.address() as net.AddressInfo;
  const stalled = await serve(t, `http://127.0.0.1:${port}`);
  // More than may wait.
  for (let i = 0; i < 5000; i++) stalled.tracing.begin({ name: 'a', kind: 'internal' }).end();
  assert.equal((await predict(stalled.port, form)).status, 200);
  assert.ok((await stalled.metric(series('queue_full'))) >= 900);
  await Promise.all([gone.tracing.close(), stalled.tracing.close()]);
});
