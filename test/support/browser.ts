// SPDX-License-Identifier: Apache-2.0
//
// Debian's Chromium, driven by playwright-core.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { Result as Violation } from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { packageDir } from '../../src/base/config/package-dir.js';

const executablePath = '/usr/bin/chromium';
/** Keeps pictures of each view, as artefacts of the tests. */
const pictureDir = path.join(packageDir, 'build/screenshots');
const axeSource = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export type Theme = 'light' | 'dark';

/**
 * A browser with loopback network only, and a microphone that repeats a WAV file, or beeps. Closed when the test ends.
 */
export async function launchBrowser(
  test: TestContext,
  { microphone }: { readonly microphone?: string } = {},
): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath,
    timeout: 120_000,
    args: [
      // Tests run as root.
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-gpu',
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
      ...(microphone === undefined ? [] : [`--use-file-for-fake-audio-capture=${microphone}`]),
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
    ],
  });
  test.after(() => browser.close());
  return browser;
}

export interface PageOptions {
  readonly theme?: Theme;
  readonly width?: number;
  readonly height?: number;
}

/**
 * A page in its own browser profile. The test fails at its end if the page reported an error, broke its content security
 * policy, or contacted another server.
 */
export async function openPage(
  test: TestContext,
  browser: Browser,
  origin: string,
  { theme = 'light', width = 1280, height = 900 }: PageOptions = {},
): Promise<Page> {
  const context: BrowserContext = await browser.newContext({
    baseURL: origin,
    colorScheme: theme,
    viewport: { width, height },
    acceptDownloads: true,
  });
  // A page in a file has no origin that could have any.
  if (origin.startsWith('http'))
    await context.grantPermissions(['microphone', 'clipboard-read', 'clipboard-write'], { origin });
  // Pages from plain HTTP on another machine lack them.
  await context.addInitScript('delete Crypto.prototype.randomUUID; delete Crypto.prototype.subtle;');
  const page = await context.newPage();
  // Long, because other work may occupy the machine.
  context.setDefaultTimeout(120_000);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    // A refused request is also reported here; tests judge the page's reaction to it.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      faults.push(message.text());
    }
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (/^https?:$/.test(url.protocol) && url.origin !== origin) faults.push(`asked ${url.href}`);
  });
  test.after(async () => {
    await context.close();
    assert.deepEqual(faults, []);
  });
  return page;
}

/** Makes a page what `openPage` gives, in the same profile: a new one takes a second of processor time. */
export async function renewPage(
  page: Page,
  { theme = 'light', width = 1280, height = 900 }: PageOptions = {},
): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  if (page.url() !== 'about:blank') await page.evaluate('sessionStorage.clear()');
  await page.context().clearCookies();
  await page.goto('about:blank');
  await page.emulateMedia({ colorScheme: theme });
  await page.setViewportSize({ width, height });
}

const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Fails with the list of axe-core's findings. */
export async function assertAccessible(page: Page): Promise<void> {
  await page.evaluate(axeSource);
  const violations = await page.evaluate(async (tags) => {
    // biome-ignore lint/suspicious/noExplicitAny: put there by the line above
    const { axe } = globalThis as any;
    return (await axe.run({ runOnly: tags })).violations;
  }, rules);
  const found = (violations as Violation[]).flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n  ${html}\n  ${failureSummary}`),
  );
  assert.deepEqual(found, [], found.join('\n'));
}

/** Keeps a picture of the page. */
export async function keepPicture(page: Page, name: string, theme: Theme): Promise<void> {
  fs.mkdirSync(pictureDir, { recursive: true });
  await page.screenshot({ path: path.join(pictureDir, `${name}-${theme}.png`), fullPage: true });
}
