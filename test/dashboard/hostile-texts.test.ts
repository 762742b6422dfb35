// SPDX-License-Identifier: Apache-2.0
//
// Foreign texts, stored or in an address, are shown verbatim and never become part of the page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { scopes } from '../../dashboard/src/logic/key-fields.js';
import { printable } from '../../dashboard/src/logic/printable.js';
import { launchBrowser, openPage } from '../support/browser.js';
import { startDashboardServer } from '../support/dashboard-server.js';
import { takeoverOf, viewShown } from '../support/page-facts.js';

const MARKUP = `"'><img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`;
const TURNED = 'harmless\u202egpj.exe';
const COMMAND = `$(touch /tmp/x); javascript:alert(1)`;

async function assertUntouched(page: Page, where: string): Promise<void> {
  const { title, ...traces } = await takeoverOf(page);
  assert.notEqual(title, 'taken', where);
  assert.deepEqual(traces, { strangers: 0, handlers: 0, links: 0 }, where);
}

test('characters that are not seen, or that turn a text, are shown as replaced', () => {
  assert.equal(printable(TURNED), 'harmless\ufffdgpj.exe');
  assert.equal(printable('a\u0000b\nc\u009bd\u2066e\ufeff'), 'a\ufffdb\ufffdc\ufffdd\ufffde\ufffd');
  assert.equal(printable('Grüße, 漢字 עברית 👩 é'), 'Grüße, 漢字 עברית 👩 é');
});

test('hostile texts', async (suite) => {
  const browser = await launchBrowser(suite);

  await suite.test(
    'names of keys, users, accounts and files with markup stay texts in every view',
    async (t) => {
      const server = await startDashboardServer(t);
      for (const name of [MARKUP, COMMAND]) {
        const client = await server.client(name.slice(0, 100), scopes);
        const { url } = await client.createUploadLinks([name]);
        assert.ok(url[0]);
        await client.upload(url[0], Buffer.from('no recording'));
        const job = await client.createJob({ key: name });
        await client.waitForJob(job.id, { pollMs: 20 });
      }
      const page = await openPage(t, browser, server.origin);
      // The user's own name is in the header of every view.
      await server.signIn(page, 'admin', 'keys', MARKUP);
      await page.getByRole('rowheader').getByText(MARKUP.slice(0, 100)).waitFor();
      await assertUntouched(page, 'keys');
      await page
        .getByRole('row')
        .filter({ hasText: COMMAND })
        .getByRole('button', { name: 'Revoke' })
        .click();
      await page.getByRole('dialog').getByText(COMMAND).waitFor();
      await assertUntouched(page, 'revocation');
      await page.keyboard.press('Escape');
      await page.getByRole('link', { name: 'Users' }).click();
      await page.getByRole('rowheader').getByText(MARKUP).waitFor();
      await assertUntouched(page, 'users');
      await page.getByRole('link', { name: 'Usage', exact: true }).click();
      await page
        .getByRole('region', { name: 'Totals' })
        .getByRole('rowheader')
        .getByText(MARKUP.slice(0, 100))
        .waitFor();
      await page.locator('.u-legend').getByText(MARKUP.slice(0, 100)).waitFor();
      await assertUntouched(page, 'usage');
      await page.getByRole('link', { name: 'Jobs' }).click();
      await page.getByRole('rowheader').last().getByRole('link').click();
      await page.getByText(`analysis/${MARKUP}`).waitFor();
      await assertUntouched(page, 'job');
    },
  );

  await suite.test('an address with markup is shown as a text, in every part of it', async (t) => {
    const server = await startDashboardServer(t);
    const page = await openPage(t, browser, server.origin);
    await server.signIn(page, 'admin', 'keys');
    const hostile = encodeURIComponent(MARKUP);
    const places = [
      `${hostile}`,
      `jobs/${hostile}`,
      `jobs?state=${hostile}&account=${hostile}&key=${hostile}`,
      `usage?from=${hostile}&key=${hostile}&account=${hostile}&measure=${hostile}&by=__proto__`,
      `keys/${hostile}?x=${hostile}`,
      `%E0%A4%A/%E0%A4%A`,
    ];
    for (const place of places) {
      await page.goto('about:blank');
      await page.goto(`${server.origin}/dashboard/#/${place}`);
      // An alert shows the server's refusal; a filter is in its control.
      await viewShown(page);
      await assertUntouched(page, place);
      assert.notEqual(await page.getByRole('main').textContent(), '');
    }
    await page.context().clearCookies();
    for (const place of [`welcome?token=${hostile}`, `sign-in?error=${hostile}`, hostile]) {
      await page.goto('about:blank');
      await page.goto(`${server.origin}/dashboard/#/${place}`);
      await page.getByRole('heading').first().waitFor();
      await assertUntouched(page, place);
    }
  });
});
