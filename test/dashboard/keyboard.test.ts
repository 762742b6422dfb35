// SPDX-License-Identifier: Apache-2.0
//
// The dashboard without a mouse: every control is reached in page order, and shows its focus.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { addUser, PASSWORD } from '../support/admin.js';
import { launchBrowser, openPage } from '../support/browser.js';
import { startDashboardServer } from '../support/dashboard-server.js';
import { eventually } from '../support/eventually.js';
import { dropFocus, focusOf, viewShown } from '../support/page-facts.js';

/** Waits, since a page moves the focus after painting. */
const focusIsOn = (page: Page, start: string): Promise<void> =>
  eventually(async () => (await focusOf(page)).name.startsWith(start), `the focus is on ${start}`);

/** Presses Tab until the control has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press('Tab');
    if ((await focusOf(page)).name.includes(name)) return;
  }
  assert.fail(`Tab does not lead to ${name}.`);
}

const SKIP_LINK = 'BUTTON Skip to the content';

/** Goes to the first stop of the page; repeats if the page has just moved the focus. */
const toStart = (page: Page): Promise<void> =>
  eventually(async () => {
    await dropFocus(page);
    await page.keyboard.press('Tab');
    return (await focusOf(page)).name === SKIP_LINK;
  }, 'the page begins with the skip link');

/** Goes through the whole page with Tab. @returns the names of the elements that had the focus */
async function walk(page: Page, view: string): Promise<readonly string[]> {
  await toStart(page);
  const names: string[] = [];
  let last = (await focusOf(page)).index;
  for (;;) {
    await page.keyboard.press('Tab');
    const { name, index, isSeen } = await focusOf(page);
    // The end leads back to the browser, and from there to the start.
    if (index <= last) return names;
    assert.ok(isSeen, `${view}: the focus of ${name} is not seen`);
    names.push(name);
    last = index;
    assert.ok(names.length < 200, view);
  }
}

test('a user signs in, goes through all views, and back, with the keyboard alone', async (t) => {
  const server = await startDashboardServer(t);
  await server.client('web shop');
  await addUser(server.database, 'admin');
  const browser = await launchBrowser(t);
  const page = await openPage(t, browser, server.origin);
  await page.goto('/dashboard/#/keys');
  await page.getByLabel('Name').waitFor();
  await tabTo(page, 'INPUT');
  await page.keyboard.type('admin');
  await page.keyboard.press('Tab');
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('rowheader', { name: 'web shop' }).waitFor();

  // The first stop of a page leads past the navigation.
  await page.goto('about:blank');
  await page.goto(`${server.origin}/dashboard/#/keys`);
  await page.getByRole('rowheader', { name: 'web shop' }).waitFor();
  await toStart(page);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await focusIsOn(page, 'BUTTON Create a key');

  // A dialog traps the focus, and gives it back.
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  for (let i = 0; i < 30; i++) {
    await page.keyboard.press('Tab');
    const { name, isInDialog } = await focusOf(page);
    // Chromium's own frame is one stop of the round.
    assert.ok(isInDialog || name.startsWith('BODY'), name);
  }
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await focusIsOn(page, 'BUTTON Create a key');
  await tabTo(page, 'Revoke');
  await page.keyboard.press('Enter');
  // The harmless choice has the focus first.
  await focusIsOn(page, 'BUTTON Go back');
  await page.keyboard.press('Enter');
  await focusIsOn(page, 'BUTTON Revoke');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await page.getByText('No keys found.').waitFor();
  // The row is gone, including the button: the focus is in the content, not lost.
  await focusIsOn(page, 'MAIN');

  const links = await page.getByRole('navigation').getByRole('link').allTextContents();
  assert.ok(links.length >= 7);
  for (const link of [...links, '(admin)']) {
    await dropFocus(page);
    await tabTo(page, link);
    await page.keyboard.press('Enter');
    const title = link === '(admin)' ? 'Your profile' : link;
    await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
    // A screen reader continues from the heading of the new view.
    await focusIsOn(page, `H1 ${title}`);
    await viewShown(page);
    const names = await walk(page, link);
    for (const expected of [...links, 'Sign out'])
      assert.ok(
        names.some((name) => name.includes(expected)),
        `${link}: ${expected}`,
      );
  }
});
