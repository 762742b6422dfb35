// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogue } from '../../src/base/errors/catalogue.js';
import type { RequestRecord } from '../../src/base/observe/request-record.js';
import { History } from '../../src/console/health/history.js';
import { latencyBoundsMs, latencyBucketOf } from '../../src/console/health/latency-buckets.js';
import { groupOf } from '../../src/console/health/request-groups.js';
import { SERIES_BYTES } from '../../src/console/health/slots.js';
import { historyAnswer } from '../../src/console/routes/history-answer.js';
import { startTestServer } from '../support/test-server.js';

const record = (changes: Partial<RequestRecord>): RequestRecord => ({
  correlationId: '',
  method: 'POST',
  route: '/v1/predict',
  status: 200,
  stagesMs: {},
  totalMs: 30,
  ...changes,
});

/** A history at second 100, and its record of the second that just ended. */
function historyOf(...records: readonly RequestRecord[]) {
  const history = new History(() => 100);
  for (const each of records) history.count(each);
  history.countWindows('m', 3);
  history.sample();
  const { series } = history.read({ fromS: 99, toS: 100, stepS: 1 });
  return { history, counts: Object.fromEntries(series.map(([name, , [count]]) => [name, count])) };
}

test('each request counts once, by subject and outcome; refusals by their reason', () => {
  const { counts } = historyOf(
    record({ stagesMs: { queue: 4.5 } }),
    record({ status: 503, errorKey: 'OVERLOADED', totalMs: 0.5, times: 40 }),
    record({ status: 429, errorKey: 'RATE_LIMITED' }),
    record({ status: 400, errorKey: 'FIELD_INVALID' }),
    record({ status: 500, errorKey: 'INTERNAL', totalMs: 900 }),
    record({ status: 499 }),
    record({ route: '/veravox/', status: 501, errorKey: 'OBJECT_REQUEST_UNSUPPORTED' }),
    record({ route: '/v1/jobs', status: 202, totalMs: 3 }),
    record({ route: '/v1/jobs/{id}/events', totalMs: 90_000 }),
    record({ route: 'stream', totalMs: 60_000 }),
    record({ route: '/livez', totalMs: 1 }),
  );
  const { 'gauges/rss_kib': rss, ...others } = counts;
  assert.ok(Number(rss) > 10_000);
  for (const name of Object.keys(others)) if (name.startsWith('gauges/')) delete others[name];
  assert.deepEqual(others, {
    present: 1,
    'requests/detection/ok': 1,
    'requests/detection/limited': 41,
    'requests/detection/client_error': 1,
    'requests/detection/failed': 1,
    'requests/detection/gone': 1,
    'requests/jobs/ok': 2,
    'requests/streams/ok': 1,
    'requests/operation/ok': 1,
    'requests/transfers/client_error': 1,
    'refusals/OVERLOADED': 40,
    'refusals/RATE_LIMITED': 1,
    'refusals/FIELD_INVALID': 1,
    'refusals/OBJECT_REQUEST_UNSUPPORTED': 1,
    'refusals/INTERNAL': 1,
    [`latency/analysis/${latencyBucketOf(30)}`]: 1,
    [`latency/analysis/${latencyBucketOf(900)}`]: 1,
    [`latency/other/${latencyBucketOf(3)}`]: 1,
    'waits/requests': 1,
    // Whole milliseconds.
    'waits/ms': 5,
    'windows/m': 3,
  });
});

test('every time falls into the bucket whose bounds enclose it', () => {
  for (let durationMs = 0.01; durationMs < 200_000; durationMs *= 1.037) {
    const bucket = latencyBucketOf(durationMs);
    const lower = bucket === 0 ? 0 : (latencyBoundsMs[bucket - 1] as number);
    const upper = latencyBoundsMs[bucket] ?? Number.POSITIVE_INFINITY;
    assert.ok(durationMs > lower && durationMs <= upper, `${durationMs} ms in bucket ${bucket}`);
  }
  for (const [i, bound] of latencyBoundsMs.entries()) assert.equal(latencyBucketOf(bound), i);
});

test('memory stays bounded, whatever errors and models there are', () => {
  const history = new History(() => 100);
  const routes = ['/v1/predict', '/v1/voiceid/verify', '/v1/jobs', 'stream', '/v1/file', '/veravox/'];
  for (const route of [...routes, '/v1/admin/keys', '/livez', 'other']) {
    for (const status of [200, 400, 429, 499, 500]) {
      for (let totalMs = 0.5; totalMs < 200_000; totalMs *= 1.3)
        history.count(record({ route, status, totalMs }));
    }
  }
  for (const errorKey of Object.keys(catalogue) as (keyof typeof catalogue)[])
    history.count(record({ status: 400, errorKey }));
  for (let i = 0; i < 1000; i++) history.countWindows(`model ${i}`, 1);
  history.sample();
  assert.ok(history.bytes <= 160 * SERIES_BYTES, `${history.bytes / SERIES_BYTES} series`);
  const { series } = history.read({ fromS: 99, toS: 100, stepS: 1 });
  const windows = series.filter(([name]) => name.startsWith('windows/'));
  assert.equal(
    windows.reduce((sum, [, , [count = 0]]) => sum + count, 0),
    1000,
  );
});

test('a machine that was booted five seconds ago has no record of the time before', () => {
  const history = new History(() => 5);
  history.count(record({}));
  history.sample();
  const offsetS = 1_800_000_000;
  for (const stepS of [1, 10]) {
    const fromS = 10 - 400 * stepS;
    const answer = historyAnswer(history.read({ fromS, toS: 10, stepS }), offsetS, 1);
    assert.equal(answer.from, offsetS + fromS);
    const at = Math.floor((4 - fromS) / stepS);
    const counts = Array.from({ length: 400 }, (_, i) => (i === at ? 1 : 0));
    assert.deepEqual(answer.recorded_s, counts, `recorded by ${stepS} s`);
    assert.deepEqual(answer.requests.detection?.ok, counts, `requests by ${stepS} s`);
    const { rss_kib: rss = [] } = answer.gauges;
    assert.ok(Number(rss[at]) > 10_000);
    // A missing record is not a value of 0, nor is NaN.
    assert.ok(rss.every((value, i) => i === at || value === null));
  }
});

test('every route of a server belongs to the subject of its documentation', async (t) => {
  const { server } = await startTestServer(t);
  const tagOf = { detection: 'Detection', voice_identity: 'Voice identity', jobs: 'Jobs' } as const;
  for (const { path, operation } of server.routes) {
    const group = groupOf(path);
    if (group === 'streams') assert.match(path, /stream/);
    else if (group === 'files' || group === 'transfers') assert.equal(operation.tag, 'Files', path);
    else if (group === 'admin') assert.match(path, /^\/(?:v1\/admin|dashboard)/);
    else if (group === 'operation') assert.equal(operation.tag, 'Operation', path);
    else assert.equal(operation.tag, tagOf[group], path);
  }
});
