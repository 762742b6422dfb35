// SPDX-License-Identifier: Apache-2.0
//
// Accounts share the requests of a sender of webhooks: one whose receivers do not answer cannot silence the others. With both databases.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import type { Delivery } from '../../src/jobs/queue/delivery.js';
import { Destinations, MAX_PER_DESTINATION } from '../../src/jobs/webhooks/destinations.js';
import { WebhookSender } from '../../src/jobs/webhooks/webhook-sender.js';
import { eventually } from '../support/eventually.js';
import { onEachQueue } from '../support/job-queues.js';
import { manyDeliveries } from '../support/thousand.js';

const PARALLEL = 32;
const PER_ACCOUNT = 8;

onEachQueue('a webhook waits for none of a thousand to receivers that do not answer', async (open, t) => {
  const jobParts = await open();
  const { jobs, deliveryWorkTable } = jobParts;
  await manyDeliveries(jobParts, 'silent', (i) => `https://h${i % 8}.hooks.example/end`);
  const begun: Delivery[] = [];
  const sender = new WebhookSender(deliveryWorkTable, {
    parallel: PARALLEL,
    perAccount: PER_ACCOUNT,
    pollMs: 50,
    log: pino({ level: 'silent' }),
    onAttempt: () => {},
    async attempt(delivery, stopping) {
      begun.push(delivery);
      if (delivery.account === 'silent')
        await new Promise((_, stop) => stopping.addEventListener('abort', stop));
      return { attempt: { atMs: 1, tookMs: 1, status: 204 }, isFinal: false };
    },
  });
  t.after(() => sender.close());
  const of = (account: string): number => begun.filter((delivery) => delivery.account === account).length;
  await eventually(() => begun.length === PER_ACCOUNT, 'its share is in flight');
  for (const url of ['https://h0.hooks.example/mine', 'https://other.example/']) {
    const { job } = await jobs.create({
      account: 'quick',
      keyId: 'k',
      task: 'predict',
      source: '{}',
      parameters: '{}',
      callbackUrl: url,
    });
    await jobs.cancel('quick', job.id);
    await eventually(
      async () => (await jobs.deliveries.ofJob(job.id))?.state === 'delivered',
      'it is delivered, also to a host at which another account waits',
    );
  }
  assert.deepEqual([of('silent'), of('quick')], [PER_ACCOUNT, 2]);
});

test('destinations are forgotten, also those for which many were put off', () => {
  let nowMs = 0;
  const destinations = new Destinations(() => nowMs);
  const to = (i: number) => ({ account: 'a', url: `https://h${i}.example/` });
  for (let i = 0; i < 1000; i++) {
    for (let n = 0; n < MAX_PER_DESTINATION; n++) assert.equal(destinations.enter(to(i)), undefined);
    for (let n = 0; n < 1000; n++) assert.ok((destinations.enter(to(i)) ?? 0) <= 900_000);
    for (let n = 0; n < MAX_PER_DESTINATION; n++) destinations.leave(to(i), 15_000);
  }
  assert.equal(destinations.size, 1000);
  nowMs += 901_000;
  destinations.enter(to(0));
  assert.equal(destinations.size, 1);
});

test('of an account, a slow destination has a few requests at once', () => {
  const destinations = new Destinations(() => 0);
  const slow = { account: 'a', url: 'https://slow.example/' };
  for (let n = 0; n < MAX_PER_DESTINATION; n++) assert.equal(destinations.enter(slow), undefined);
  assert.ok((destinations.enter(slow) ?? 0) > 0);
  assert.equal(destinations.enter({ ...slow, url: 'https://other.example/' }), undefined);
  assert.equal(destinations.enter({ ...slow, account: 'b' }), undefined, 'of another account');
});

test('a large backlog of a receiver that hangs is rarely put off', () => {
  const attemptMs = 15_000;
  let nowMs = 0;
  let putOff = 0;
  const destinations = new Destinations(() => nowMs);
  const hanging = { account: 'a', url: 'https://hanging.example/' };
  const inFlight: number[] = [];
  let due = Array<number>(2000).fill(0);
  for (; nowMs < 3_600_000; nowMs += 1000) {
    while (inFlight[0] !== undefined && inFlight[0] + attemptMs <= nowMs) {
      inFlight.shift();
      destinations.leave(hanging, attemptMs);
    }
    due = due.flatMap((dueMs) => {
      if (dueMs > nowMs) return [dueMs];
      const pauseMs = destinations.enter(hanging);
      if (pauseMs === undefined) inFlight.push(nowMs);
      else putOff++;
      return pauseMs === undefined ? [] : [nowMs + pauseMs];
    });
  }
  // Four at once send 960 in an hour.
  assert.ok(due.length < 1200, `${due.length} have not been sent`);
  assert.ok(putOff < 10 * 2000, `${putOff} changes of the database`);
});
