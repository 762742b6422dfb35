// SPDX-License-Identifier: Apache-2.0
//
// How soon the dashboard is usable on localhost with an empty cache, on a processor that Chromium slows down four times.
//
//   npm run bench:first-view
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { packageDir } from '../src/base/config/package-dir.js';
import { launchBrowser, openPage } from '../test/support/browser.js';
import { startDashboardServer } from '../test/support/dashboard-server.js';
import { firstViewMs, SLOW_DOWN } from '../test/support/first-view.js';
import { describeMachine } from './machine.js';

const RUNS = 9;

test('first view', async (t) => {
  const server = await startDashboardServer(t);
  const browser = await launchBrowser(t);
  const took: number[] = [];
  // The first one warms the server up and does not count.
  for (let run = 0; run <= RUNS; run++) {
    const page = await openPage(t, browser, server.origin);
    await server.signIn(page, 'admin');
    const ms = await firstViewMs(page);
    if (run > 0) took.push(Math.round(ms));
    await page.context().close();
  }
  took.sort((a, b) => a - b);
  const result = {
    machine: describeMachine(),
    what: 'milliseconds from the start of the navigation to a first view with heading and controls',
    processorSlowedDown: SLOW_DOWN,
    browser: `Chromium ${browser.version()}`,
    runs: RUNS,
    ms: { median: took[Math.floor(RUNS / 2)], least: took[0], most: took.at(-1) },
  };
  const text = `${JSON.stringify(result, undefined, 2)}\n`;
  fs.writeFileSync(path.join(packageDir, 'bench/results/first-view.json'), text);
  console.log(text);
});
