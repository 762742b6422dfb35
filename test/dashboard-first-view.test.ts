// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launchBrowser, openPage } from './support/browser.js';
import { startDashboardServer } from './support/dashboard-server.js';
import { firstViewMs, SLOW_DOWN } from './support/first-view.js';

/** The goal is a second (`npm run bench:dashboard`); other work may have most of the machine here. */
const MOST_MS = 20_000;

test(`the first view is usable soon on a processor that is ${SLOW_DOWN} times slower`, async (t) => {
  const server = await startDashboardServer(t);
  const browser = await launchBrowser(t);
  const page = await openPage(t, browser, server.origin);
  await server.signIn(page, 'admin');
  const tookMs = await firstViewMs(page);
  assert.ok(tookMs > 0 && tookMs < MOST_MS, `${tookMs} ms`);
});
