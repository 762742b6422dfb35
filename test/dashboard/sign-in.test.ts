// SPDX-License-Identifier: Apache-2.0
//
// The way into the dashboard, and out of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { LinkTable, linkPath } from '../../src/console/users/link-table.js';
import { SessionTable } from '../../src/console/users/session-table.js';
import { UserTable } from '../../src/console/users/user-table.js';
import { addUser, PASSWORD, signIn } from '../support/admin.js';
import { assertAccessible, keepPicture, launchBrowser, openPage, renewPage } from '../support/browser.js';
import { startDashboardServer } from '../support/dashboard-server.js';

async function fillIn(page: Page, name: string, password: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

test('the way into the dashboard', async (suite) => {
  const server = await startDashboardServer(suite);
  const firstToken = await new LinkTable(server.database).createFirst();
  const browser = await launchBrowser(suite);
  const [page, other] = [
    await openPage(suite, browser, server.origin),
    await openPage(suite, browser, server.origin),
  ];
  suite.beforeEach(async () => {
    for (const each of [page, other]) await renewPage(each);
  });

  await suite.test(
    'the link of the first start makes an admin, who adds a user, who follows their link',
    async () => {
      assert.ok(firstToken);
      await page.goto(linkPath(firstToken));
      await page.getByRole('heading', { name: 'Choose a password' }).waitFor();
      await assertAccessible(page);
      await page.getByLabel('Name').fill('Ada');
      await page.getByLabel('New password').fill('too short');
      await page.getByRole('button', { name: 'Set the password and sign in' }).click();
      assert.equal(await page.evaluate("document.querySelector('[type=password]').validity.tooShort"), true);
      await page.getByLabel('New password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Set the password and sign in' }).click();
      await page.getByRole('link', { name: 'Users' }).click();
      assert.ok(!page.url().includes(firstToken));

      await page.getByRole('button', { name: 'Add a user' }).click();
      const dialog = page.getByRole('dialog', { name: 'Add a user' });
      await dialog.getByLabel('Name').fill('Grace');
      await dialog.getByLabel('Role').selectOption('developer: keys, jobs and playground of the account');
      await dialog.getByLabel('Account').fill('acme');
      await dialog.getByRole('button', { name: 'Add', exact: true }).click();
      const made = page.getByRole('region', { name: 'Link for Grace' });
      const link = (await made.locator('code').textContent()) ?? '';
      assert.ok(link.startsWith(`${server.origin}/dashboard/#/welcome?token=`));
      // Neither another link nor a change hides it.
      await page.getByRole('button', { name: 'Password link Ada' }).click();
      const another = page.getByRole('region', { name: 'Link for Ada' });
      await another.waitFor();
      await page.getByRole('button', { name: 'Edit Grace' }).click();
      const editing = page.getByRole('dialog', { name: 'Edit the user' });
      await editing.getByLabel('Account').fill('other');
      await editing.getByRole('button', { name: 'Save' }).click();
      await editing.waitFor({ state: 'detached' });
      await made.waitFor();
      await another.getByRole('button', { name: 'I have copied it' }).click();
      await another.waitFor({ state: 'detached' });
      await assertAccessible(page);
      await keepPicture(page, 'users', 'light');

      await other.emulateMedia({ colorScheme: 'dark' });
      await other.setViewportSize({ width: 360, height: 900 });
      await other.goto(link);
      await other.getByRole('heading', { name: 'Choose a password' }).waitFor();
      assert.equal(await other.getByLabel('Name').inputValue(), 'Grace');
      await assertAccessible(other);
      await other.getByLabel('New password').fill(PASSWORD);
      await other.getByRole('button', { name: 'Set the password and sign in' }).click();
      await other.getByRole('link', { name: 'Grace (developer)' }).click();
      await other.getByText('developer: keys, jobs and playground of the account').waitFor();
      assert.equal(await other.getByRole('link', { name: 'Users' }).count(), 0);
      await assertAccessible(other);

      // Disabled users are signed out everywhere.
      const row = page.getByRole('row').filter({ hasText: 'Grace' });
      await row.getByRole('button', { name: 'Disable' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
      await row.getByText('disabled').waitFor();
      await other.getByRole('link', { name: 'Jobs' }).click();
      await other.getByRole('heading', { name: 'Sign in' }).waitFor();
      await fillIn(other, 'Grace', PASSWORD);
      await other.getByText('The name or the password is wrong.').waitFor();
      // The link has been used once.
      await other.goto('about:blank');
      await other.goto(link);
      await other.getByLabel('New password').fill(PASSWORD);
      await other.getByRole('button', { name: 'Set the password and sign in' }).click();
      await other.getByText('The link no longer works.').waitFor();
    },
  );

  await suite.test(
    'a session that ends leads to the sign-in, and from there back to the same place',
    async () => {
      await server.signIn(page, 'developer', 'usage');
      await page.getByLabel('Plot').selectOption('Windows');
      await page.getByRole('heading', { name: 'Windows per day' }).waitFor();
      const place = page.url();
      assert.match(place, /measure=windows/);

      const user = await new UserTable(server.database).named('developer');
      assert.ok(user);
      await new SessionTable(server.database).endAllOf(user.id);
      await page.getByRole('button', { name: '7 days' }).click();
      await page.getByText('Your session has ended.').waitFor();
      await assertAccessible(page);
      await keepPicture(page, 'session-ended', 'light');
      await fillIn(page, 'developer', 'a wrong password');
      await page.getByText('The name or the password is wrong.').waitFor();
      await fillIn(page, 'developer', PASSWORD);
      await page.getByRole('heading', { name: 'Windows per day' }).waitFor();
      assert.match(page.url(), /measure=windows/);
    },
  );

  await suite.test('a refusal of the provider is said in words, and a password still leads in', async () => {
    await addUser(server.database, 'viewer', 'mary');
    await page.goto('/dashboard/#/sign-in?error=OIDC_ROLE_MISSING');
    await page.getByRole('alert').getByText('gives you no role here').waitFor();
    await page.goto('/dashboard/#/sign-in?error=OVERLOADED');
    await page.getByRole('alert').getByText('The sign-in failed. Try again later.').waitFor();
    await assertAccessible(page);
    await fillIn(page, 'mary', PASSWORD);
    await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
  });

  await suite.test(
    'everybody sees where they are signed in, and ends one session or all others',
    async () => {
      await page.setViewportSize({ width: 360, height: 900 });
      await server.signIn(other, 'viewer', 'keys', 'joan');
      await signIn(Number(new URL(server.origin).port), 'joan', { 'user-agent': 'curl/8.17.0' });
      await signIn(Number(new URL(server.origin).port), 'joan', { 'user-agent': '<b>bold</b>\u00ad' });
      await server.signIn(page, 'viewer', 'account', 'joan');
      const table = page.getByRole('region', { name: 'Table of your sessions' });
      const rows = table.getByRole('row');
      await table.getByRole('rowheader', { name: '<b>bold</b>' }).waitFor();
      assert.equal(await rows.count(), 5);
      const own = rows.filter({ hasText: 'this session' });
      assert.match((await own.textContent()) ?? '', /^Chrome on Linux127\.0\.0\.1/);
      await assertAccessible(page);
      await keepPicture(page, 'sessions', 'light');

      await table.getByRole('button', { name: 'End curl/8.17.0' }).click();
      await table.getByRole('rowheader', { name: 'curl/8.17.0' }).waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'End all others' }).click();
      await page.getByText('2 other sessions have ended.').waitFor();
      await other.getByRole('link', { name: 'Usage', exact: true }).click();
      await other.getByRole('heading', { name: 'Sign in' }).waitFor();
      await rows.nth(2).waitFor({ state: 'detached' });
      assert.equal(await rows.count(), 2);
      assert.equal(await page.getByRole('button', { name: 'End all others' }).isDisabled(), true);
    },
  );

  await suite.test('after a refusal, the provider leads to the place that was wanted at first', async () => {
    await addUser(server.database, 'viewer', 'emma');
    await page.route('**/v1/admin/sign-in', (route) =>
      route.fulfill({ json: { password: true, oidc: true } }),
    );
    const outcomes = ['refused', 'signed in', 'signed in'];
    // The provider sends the browser back, with a cookie or an error.
    await page.route('**/v1/admin/oidc/start', async (route) => {
      const isRefused = outcomes.shift() === 'refused';
      const data = { name: 'emma', password: PASSWORD };
      // The server may be closing the kept connection.
      const options = { data, maxRetries: 3 };
      if (!isRefused) await page.request.post(`${server.origin}/v1/admin/session`, options);
      const location = `/dashboard/${isRefused ? '#/sign-in?error=OIDC_REFUSED' : ''}`;
      await route.fulfill({ status: 302, headers: { location } });
    });
    const signIn = () => page.getByRole('link', { name: 'Sign in with your organisation' }).click();
    await page.goto('/dashboard/#/usage');
    await signIn();
    await page.getByRole('alert').getByText('did not sign you in').waitFor();
    await signIn();
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto('about:blank');
    await page.goto('/dashboard/#/sign-in?error=OIDC_REFUSED');
    await signIn();
    await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
    // The address of the refusal, opened again after sign-in.
    await page.goto('about:blank');
    await page.goto('/dashboard/#/sign-in?error=OIDC_REFUSED');
    await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
  });

  await suite.test(
    'a tab notices what another one has done to the session when it is seen again',
    async () => {
      await addUser(server.database, 'viewer', 'rosa');
      await server.signIn(page, 'developer', 'usage', 'lise');
      const tab = await page.context().newPage();
      await tab.goto('/dashboard/#/usage');
      await tab.getByRole('button', { name: 'Sign out' }).click();
      await fillIn(tab, 'rosa', PASSWORD);
      await tab.getByRole('link', { name: 'rosa (viewer)' }).waitFor();
      const beSeen = () => page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
      await beSeen();
      await page.getByRole('link', { name: 'rosa (viewer)' }).waitFor();
      await tab.getByRole('button', { name: 'Sign out' }).click();
      await tab.getByRole('heading', { name: 'Sign in' }).waitFor();
      await beSeen();
      await page.getByText('Your session has ended.').waitFor();
    },
  );

  await suite.test('a link for a password can be followed while somebody is signed in', async () => {
    const anna = await addUser(server.database, 'viewer', 'anna');
    const token = await new LinkTable(server.database).createFor(anna.id);
    await server.signIn(page, 'developer', 'usage', 'ruth');
    await page.goto(linkPath(token));
    await page.getByLabel('New password').fill('another battery staple');
    await page.getByRole('button', { name: 'Set the password and sign in' }).click();
    await page.getByRole('link', { name: 'anna (viewer)' }).waitFor();
  });

  await suite.test('a changed password ends the other sessions, and signing out ends this one', async () => {
    await server.signIn(page, 'viewer', 'account', 'jane');
    await server.signIn(other, 'viewer', 'keys', 'jane');
    await page.getByLabel('Current password').fill('a wrong password');
    await page.getByLabel('New password').fill('another battery staple');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('The name or the password is wrong.').waitFor();
    await page.getByLabel('Current password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('The password was changed.').waitFor();
    await assertAccessible(page);
    await keepPicture(page, 'account', 'light');
    await other.getByRole('link', { name: 'Usage', exact: true }).click();
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.reload();
    await fillIn(page, 'jane', 'another battery staple');
    await page.getByRole('heading', { name: 'Your profile' }).waitFor();
  });
});
