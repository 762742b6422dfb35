// SPDX-License-Identifier: Apache-2.0
import type { TestContext } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { Config } from '../../src/base/config/options.js';
import type { AdminAnalysisFacts } from '../../src/console/contract/analysis-facts.js';
import { openPage, type PageOptions } from './browser.js';
import { type JobServer, startJobServer } from './job-server.js';
import { API_KEY } from './test-server.js';
import { monoWav } from './wav.js';

/** A server with jobs, whose analyses are doubles. */
export const startPlaygroundServer = (
  test: TestContext,
  overrides: Partial<Config> = {},
): Promise<JobServer> => startJobServer(test, { jobWorkers: 1, ...overrides });

/** The page's own requests get the answers of a sign-in. */
export async function signInDouble(page: Page, csrfToken: string): Promise<void> {
  const user = { kind: 'user', id: '5f0c2a9be1d4', name: 'ada', role: 'developer', account: 'acme' };
  const session = { ...user, csrf_token: csrfToken, expires_at: null };
  await page.route('**/v1/admin/session', (route) => route.fulfill({ json: session }));
  await page.route('**/v1/admin/playground-key', (route) => route.fulfill({ json: { key: API_KEY } }));
}

/** A developer's playground whose sign-in is a double: the requests of the page are real. */
export async function openPlayground(
  test: TestContext,
  browser: Browser,
  origin: string,
  { maxFileBytes = 1_000_000, ...options }: PageOptions & { readonly maxFileBytes?: number } = {},
): Promise<Page> {
  const page = await openPage(test, browser, origin, options);
  await signInDouble(page, 'token');
  const names = ['apollo-4-5-2026-03-26', 'apollo-4-2026-01-16'];
  const facts: AdminAnalysisFacts = {
    model_names: names,
    default_model: 'apollo-4-5-2026-03-26',
    threshold: 0.5,
    silence_threshold: 80,
    max_file_bytes: maxFileBytes,
    detectors: names.map((id) => ({
      id,
      aliases: [],
      uncertain_below: 0.15,
      operating_points: [{ name: 'fpr-1', threshold: 0.7 }],
    })),
  };
  await page.route('**/v1/admin/analysis-facts', (route) => route.fulfill({ json: facts }));
  await page.goto('/dashboard/#/playground');
  await page.getByRole('button', { name: 'Analyse' }).waitFor();
  return page;
}

/** A tone that comes and goes. */
export function someWav(durationS: number, rateHz = 8000): Buffer {
  const samples = Float32Array.from({ length: durationS * rateHz }, (_, i) => {
    const timeS = i / rateHz;
    return 0.8 * Math.sin(2 * Math.PI * 220 * timeS) * Math.sin(timeS) ** 2;
  });
  return Buffer.from(monoWav(samples, rateHz));
}
