// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AdminClient, VeravoxError } from '../../client/src/index.js';
import { History } from '../../src/console/health/history.js';
import { latencyBoundsMs } from '../../src/console/health/latency-buckets.js';
import { requestGroups, requestOutcomes } from '../../src/console/health/request-groups.js';
import { COARSE_SPAN_S, Slots } from '../../src/console/health/slots.js';
import { historyAnswer } from '../../src/console/routes/history-answer.js';
import { eventually } from '../support/eventually.js';
import { FORM_TYPE, formBody } from '../support/form-body.js';
import { request } from '../support/http-client.js';
import { startJobServer } from '../support/job-server.js';
import { ADMIN_API_KEY, API_KEY } from '../support/test-keys.js';

type JobServer = Awaited<ReturnType<typeof startJobServer>>;

const clientOf = ({ origin }: JobServer) => new AdminClient({ baseUrl: origin, apiKey: ADMIN_API_KEY });

const predict = ({ port }: JobServer, threshold = '0.5') =>
  request(port, '/v1/predict', {
    method: 'POST',
    headers: { 'x-api-key': API_KEY, 'content-type': FORM_TYPE },
    body: formBody([
      { name: 'threshold', content: threshold },
      { name: 'file', filename: 'a.wav', content: Buffer.alloc(4000, 1) },
    ]),
  });

const totalOf = (counts: readonly number[] = []): number => counts.reduce((sum, count) => sum + count, 0);

test('what requests did stands in the history a second later', async (t) => {
  const server = await startJobServer(t);
  const client = clientOf(server);
  const beganS = Math.floor(Date.now() / 1000);
  for (let i = 0; i < 3; i++) assert.equal((await predict(server)).status, 200);
  assert.equal((await predict(server, '7')).status, 400);
  await eventually(async () => {
    const { history } = await client.getHealth();
    const { ok, client_error: refused } = history.requests.detection ?? {};
    return totalOf(ok) === 3 && totalOf(refused) === 1;
  }, 'three predictions and a refusal');
  const { history, now } = await client.getHealth();
  assert.equal(history.step_s, 10);
  const { requests, refusals, latency, windows, waits, gauges, recorded_s: recorded } = history;
  assert.equal(totalOf(requests.detection?.client_error), 1);
  assert.equal(totalOf(refusals.FIELD_INVALID), 1);
  assert.equal(totalOf(latency.analysis.map((bucket) => totalOf(bucket.requests))), 3);
  assert.equal(totalOf(windows['apollo-4-5-2026-03-26']), 6);
  assert.equal(totalOf(waits.requests), 3);
  // The time, by the clock of the test.
  const at = requests.detection?.ok?.findIndex((count) => count > 0) ?? -1;
  const atS = history.from + at * history.step_s;
  assert.ok(atS > beganS - 12 && atS <= Math.ceil(Date.now() / 1000), `${atS}, begun at ${beganS}`);
  assert.ok(totalOf(recorded) >= 1);
  for (const [i, rssKib] of (gauges.rss_kib ?? []).entries()) {
    assert.equal(rssKib === null, recorded[i] === 0);
    if (rssKib !== null) assert.ok(rssKib > 10_000);
  }
  assert.equal(now.state, 'ready');
  assert.deepEqual(now.database, { kind: 'sqlite', state: 'up' });
  assert.deepEqual(now.storage, { kind: 'data_folder', bucket: null });
  assert.ok((now.disk?.free_bytes ?? 0) > 0);
  assert.ok(now.history_bytes > 0 && now.history_bytes < 8_000_000);
  assert.ok(now.limits.some(({ setting, value }) => setting === 'VERAVOX_MAX_WAIT_MS' && value === 300_000));
  const ids = now.models.map(({ id, task }) => `${task} ${id}`);
  assert.ok(
    ids.includes('speaker voiceprint-1-2026-11-22') && ids.includes('detection apollo-4-5-2026-03-26'),
  );
});

test('a span is what it says, and what cannot be is refused', async (t) => {
  const server = await startJobServer(t);
  const client = clientOf(server);
  const nowS = Math.floor(Date.now() / 1000);
  const minute = await client.getHealth({ from: nowS - 60, stepS: 1 });
  const { from, step_s: stepS, points } = minute.history;
  assert.equal(stepS, 1);
  assert.ok(Math.abs(from - (nowS - 60)) <= 1, `${from}`);
  assert.ok(points >= 60 && points <= 64, `${points}`);
  const { history } = await client.getHealth({ lastS: 600 });
  assert.equal(history.step_s, 2);
  assert.ok(history.points >= 300 && history.points <= 302, `${history.points}`);
  const day = await client.getHealth({ from: nowS - 100 * COARSE_SPAN_S });
  assert.equal(day.history.step_s, 300);
  assert.ok(day.history.points <= 290);
  const earlier = await client.getHealth({ from: nowS - 3 * 3600, to: nowS - 2 * 3600 });
  assert.equal(earlier.history.step_s, 10);
  for (const span of [
    { stepS: 3 },
    { stepS: 15 },
    { stepS: 1 },
    { from: nowS - 80_000, stepS: 10 },
    { from: nowS - 7200, to: nowS - 7100, stepS: 5 },
    { from: nowS + 1000 },
    { from: nowS, to: nowS - 10 },
    { to: nowS - 2 * COARSE_SPAN_S },
    { from: -1 },
    { stepS: 1.5 },
  ]) {
    await assert.rejects(
      () => client.getHealth(span),
      (error) => error instanceof VeravoxError && error.status === 400,
      JSON.stringify(span),
    );
  }
});

test('a number of jobs that nobody knows is not 0', () => {
  let nowS = 1000;
  let jobs: { readonly queued: number; readonly running: number } | undefined;
  const none = () => 0;
  const history = new History(() => nowS);
  history.start({
    ...{ inputsWaiting: none, expectedWaitS: none, requestsInFlight: none, transfersInFlight: none },
    ...{ arenaUsedBytes: none, streams: none, connections: none, jobsBusy: none, jobs: () => jobs },
  });
  history.stop();
  for (const known of [undefined, { queued: 2, running: 0 }, undefined]) {
    jobs = known;
    nowS++;
    history.sample();
  }
  const stretch = history.read({ fromS: 999, toS: 1003, stepS: 1 });
  const { gauges } = historyAnswer(stretch, 0, 1);
  assert.deepEqual(gauges.jobs_queued, [null, null, 2, null]);
  assert.deepEqual(gauges.jobs_running, [null, null, 0, null]);
  assert.deepEqual(gauges.jobs_busy, [null, 0, 0, 0]);
});

test('a busy day fits into 200 KB', () => {
  const slots = new Slots();
  const names = [
    ...requestGroups
      .slice(0, 4)
      .flatMap((group) => requestOutcomes.map((each) => `requests/${group}/${each}`)),
    ...['OVERLOADED', 'RATE_LIMITED', 'FIELD_INVALID', 'UNDECODABLE'].map((key) => `refusals/${key}`),
    ...latencyBoundsMs.slice(6, 24).map((_, i) => `latency/analysis/${i + 6}`),
    ...['a', 'b', 'c'].map((model) => `windows/detector-${model}`),
    ...Array.from({ length: 14 }, (_, i) => `gauges/${i}`),
  ];
  for (let second = 0; second < COARSE_SPAN_S; second += 10) {
    for (const [i, name] of names.entries()) slots.cell(name, 'sum').pending = 30 + ((second * i) % 300);
    slots.sample(second);
  }
  const stretch = slots.read({ fromS: 0, toS: COARSE_SPAN_S, stepS: 300 });
  const text = JSON.stringify(historyAnswer(stretch, 1_800_000_000, 1));
  assert.ok(text.length > 60_000 && text.length < 200_000, `${text.length} bytes`);
});

test('without a dashboard nothing is counted for it', async (t) => {
  const server = await startJobServer(t, {}, { console: undefined });
  const { status } = await request(server.port, '/v1/admin/health', {
    headers: { 'x-api-key': ADMIN_API_KEY },
  });
  assert.equal(status, 404);
});
