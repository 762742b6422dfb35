// SPDX-License-Identifier: Apache-2.0
//
// A job belongs to the trace of its request, whichever process works on it; cli/work.test.ts shows it with two processes.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { parseAllowedHost } from '../../src/base/config/allowed-host.js';
import type { Config } from '../../src/base/config/options.js';
import { ServiceMetrics } from '../../src/base/observe/service-metrics.js';
import { openTracing } from '../../src/service/open-tracing.js';
import { eventually } from '../support/eventually.js';
import { startFakeStorage } from '../support/fake-storage.js';
import { startJobServer } from '../support/job-server.js';
import { type CollectedSpan, startCollector } from '../support/otlp-collector.js';
import { testConfig } from '../support/test-server.js';

const FILE = Buffer.from('any bytes');

async function serve(t: TestContext, overrides: Partial<Config> = {}) {
  const collector = await startCollector(t);
  const metrics = new ServiceMetrics();
  const settings = { ...testConfig, otlpEndpoint: `${collector.url}/v1/traces` };
  const tracing = await openTracing(settings, metrics, pino({ level: 'silent' }));
  assert.ok(tracing);
  const server = await startJobServer(t, overrides, {
    metrics,
    tracing,
    fetchSurroundings: {
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
      isPublicAddress: () => true,
    },
  });
  t.after(() => tracing.close());
  return { ...server, collector };
}

const named = (spans: readonly CollectedSpan[], name: string): CollectedSpan[] =>
  spans.filter((span) => span.name === name);

test('the webhook is a part of the trace, and its receiver can continue it', async (t) => {
  const receiver = await startFakeStorage(t, (incoming, response) => {
    incoming.resume();
    response.writeHead(204).end();
  });
  const host = `http://hooks.example.com:${receiver.port}`;
  const webhookHosts = [parseAllowedHost(host) ?? assert.fail()];
  const { call, store, jobParts, collector, log } = await serve(t, { webhookHosts });
  await jobParts.jobs.webhookSecrets.create('one', 60_000);
  await store('a', FILE);
  const { status } = await call('POST', '/v1/jobs', { key: 'a', callback_url: `${host}/?token=secret` });
  assert.equal(status, 202);
  const request = await collector.named('POST /v1/jobs');
  const webhook = await collector.named('webhook');
  const job = await collector.named('job');
  assert.deepEqual(
    [webhook, job].map(({ traceId, parentId, kind, hasFailed }) => [traceId, parentId, kind, hasFailed]),
    [
      [request.traceId, request.spanId, 'client', false],
      [request.traceId, request.spanId, 'consumer', false],
    ],
  );
  assert.equal(receiver.requests[0]?.headers.traceparent, `00-${webhook.traceId}-${webhook.spanId}-01`);
  assert.deepEqual(
    collector.partsOf(job).map(({ name }) => name),
    ['open', 'analyse'],
  );
  const { attributes } = job;
  assert.deepEqual(
    [attributes['veravox.outcome'], attributes['veravox.attempt'], attributes['veravox.audio_s']],
    ['succeeded', 1, 10],
  );
  const wait = await collector.named('job wait');
  assert.ok(
    request.startMs - 50 < wait.startMs && wait.startMs <= wait.endMs && wait.endMs <= job.startMs + 50,
  );
  const lines = log.filter((line) => line.job === attributes['veravox.job_id'] && line.webhook === undefined);
  assert.deepEqual(new Set(lines.map((line) => line.trace_id)), new Set([request.traceId]));
  assert.doesNotMatch(JSON.stringify(collector.requests), /secret|example/);
});

test('each turn of a job is a span, and failures are failures', async (t) => {
  const { call, store, analyser, collector } = await serve(t);
  await store('a', FILE);
  let turns = 0;
  const { recordingSteps } = analyser;
  analyser.recordingSteps = async function* (request) {
    if (++turns === 1) throw new Error('a secret cause');
    yield* recordingSteps(request);
  };
  await call('POST', '/v1/jobs', { key: 'a' });
  await eventually(() => named(collector.spans, 'job').length === 2, 'both turns are there');
  const [request = assert.fail()] = named(collector.spans, 'POST /v1/jobs');
  const facts = named(collector.spans, 'job').map((span) => [
    span.parentId,
    span.hasFailed,
    span.attributes['error.type'],
    span.attributes['veravox.outcome'],
    span.attributes['veravox.attempt'],
  ]);
  assert.deepEqual(facts, [
    [request.spanId, true, 'INTERNAL', 'retried', 1],
    [request.spanId, false, undefined, 'succeeded', 2],
  ]);
  assert.equal(named(collector.spans, 'job wait').length, 1);
  assert.doesNotMatch(JSON.stringify(collector.requests), /secret/);
});

test('the upload that made a job by itself is its request, and its result a part of it', async (t) => {
  const { store, collector } = await serve(t, { analyseUploads: 'all' });
  await store('a', FILE);
  const job = await collector.named('job');
  const [upload] = named(collector.spans, 'PUT /veravox/');
  assert.deepEqual([job.traceId, job.parentId], [upload?.traceId, upload?.spanId]);
  assert.deepEqual(
    collector.partsOf(job).map(({ name }) => name),
    // The second look tells whether the recording was replaced in the meantime.
    ['open', 'analyse', 'open', 'store'],
  );
});

test('lines of a batch have traces of their own, which point to the batch', async (t) => {
  const { call, store, collector } = await serve(t);
  await store('a', FILE);
  await call('POST', '/v1/batches', { lines: '{"key":"a"}\n{"key":"a"}\n' });
  await eventually(() => named(collector.spans, 'job').length === 2, 'both lines are done');
  const request = await collector.named('POST /v1/batches');
  const lines = named(collector.spans, 'job');
  for (const { links, parentId } of lines) {
    assert.deepEqual([links, parentId], [[`${request.traceId} ${request.spanId}`], '']);
  }
  assert.equal(new Set([request, ...lines].map(({ traceId }) => traceId)).size, 3);
});
