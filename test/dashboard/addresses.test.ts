// SPDX-License-Identifier: Apache-2.0
//
// Addresses of views that are mistyped, cut off or outdated.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launchBrowser, openPage } from '../support/browser.js';
import { startDashboardServer } from '../support/dashboard-server.js';

/** Each with the expected page text. */
const addresses: readonly (readonly [string, string])[] = [
  ['#/nowhere', 'This page does not exist.'],
  ['#/constructor', 'This page does not exist.'],
  ['#/welcome', 'This page does not exist.'],
  ['#/jobs/0', 'The account has no such job.'],
  ['#/jobs/.', 'The account has no such job.'],
  ['#/jobs/..', 'There is no resource at /v1/admin/.'],
  ['#/jobs/%2e%2e%2fkeys', 'The account has no such job.'],
  ['#/jobs/%E0%A4%A', 'No jobs found.'],
  ['#/jobs?state=lost&task=__proto__&key=x', 'No jobs found.'],
  ['#/jobs?account=%00', 'Expected 1 to 32 lower-case letters'],
  ['#/usage?from=0002-01-01', 'No requests in this period.'],
  ['#/usage?from=x&to=9999-12-31&by=y&measure=z', 'No requests in this period.'],
];

test('addresses that lead nowhere', async (t) => {
  const server = await startDashboardServer(t);
  const browser = await launchBrowser(t);
  const page = await openPage(t, browser, server.origin);
  await server.signIn(page, 'admin', 'usage');
  const main = page.getByRole('main');
  const open = async (address: string, text: string): Promise<void> => {
    await page.evaluate((hash) => Object.assign(globalThis, { location: hash }), address);
    await main.getByText(text).first().waitFor();
  };
  for (const [address, text] of addresses) {
    await t.test(`${address} is answered in words`, async () => {
      // So that no text of the address before counts.
      await open('#/keys', 'Create a key');
      await open(address, text);
    });
  }

  await t.test('back and forward lead through the filters of a view', async () => {
    await page.evaluate("location.hash = '#/usage'");
    await page.getByLabel('Plot').selectOption('Windows');
    await page.getByRole('heading', { name: 'Windows per day' }).waitFor();
    await page.getByRole('button', { name: '7 days' }).click();
    await page.getByRole('button', { name: '7 days', pressed: true }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: '7 days', pressed: false }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Requests per day' }).waitFor();
    await page.goForward();
    await page.getByRole('heading', { name: 'Windows per day' }).waitFor();
    assert.match(page.url(), /measure=windows/);
  });

  await t.test('a day that is still being typed changes nothing', async () => {
    await page.evaluate("location.hash = '#/usage?from=2026-11-01&to=2026-11-20'");
    const from = page.getByLabel('From (UTC)');
    const hash = page.url();
    await from.evaluate(`input => {
      input.value = '0002-11-01';
      input.dispatchEvent(new Event('change', { bubbles: true }));
    }`);
    assert.equal(page.url(), hash);
    await from.fill('2026-11-02');
    await page.waitForURL(/from=2026-11-02/);
  });
});
