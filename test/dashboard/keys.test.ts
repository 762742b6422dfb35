// SPDX-License-Identifier: Apache-2.0
//
// Keys and usage in a browser: from the form to a request with curl, and to its refusal.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { packageDir } from '../../src/base/config/package-dir.js';
import { dayOf, daysBefore } from '../../src/state/data-folder/days.js';
import type { Database } from '../../src/state/database/database.js';
import { KeyTable } from '../../src/state/keys/key-table.js';
import { UsageTable } from '../../src/state/records/usage-table.js';
import { assertAccessible, keepPicture, launchBrowser, openPage } from '../support/browser.js';
import { startDashboardServer } from '../support/dashboard-server.js';
import { eventually } from '../support/eventually.js';
import { assertNoSidewaysScrolling, clipboardOf } from '../support/page-facts.js';

const run = promisify(execFile);
/** A month of requests of each key. */
async function addUsage(database: Database): Promise<void> {
  const usageTable = new UsageTable(database);
  const today = dayOf(new Date());
  const keys = await new KeyTable(database).list();
  for (let before = 0; before < 30; before++) {
    const day = daysBefore(today, before);
    const rows = keys.map(({ id, account }, i) => {
      const requests = Math.round(400 + 300 * Math.sin((before + 9 * i) / 4) + 60 * ((before * 7 + i) % 5));
      const counts = {
        errors: requests % 7,
        audioS: 31.5 * requests,
        windows: 6 * requests,
        bytes: 480_000 * requests,
      };
      return { keyId: id, account, route: '/v1/predict', requests, ...counts };
    });
    await usageTable.add({ id: `${day}.test`, day, rows });
  }
}

const recording = path.join(packageDir, 'test/fixtures/human-lj-a.flac');

test('keys and usage', async (suite) => {
  const browser = await launchBrowser(suite);

  await suite.test(
    'an admin makes a key, uses it with the shown command, sees its usage, and revokes it',
    async (t) => {
      const server = await startDashboardServer(t);
      const page = await openPage(t, browser, server.origin);
      await server.signIn(page, 'admin', 'keys');

      await page.getByRole('button', { name: 'Create a key' }).click();
      const dialog = page.getByRole('dialog', { name: 'Create a key' });
      await dialog.getByLabel('Name').fill('web shop');
      await dialog.getByLabel('Account').fill('acme');
      await dialog.getByLabel('Request rate').selectOption('Custom');
      await dialog.getByLabel('Requests', { exact: true }).fill('5000');
      await dialog.getByLabel('Per (seconds)').fill('60');
      await assertAccessible(page);
      await keepPicture(page, 'key-form', 'light');
      await dialog.getByRole('button', { name: 'Create' }).click();

      const made = page.getByRole('region', { name: 'The new key: web shop' });
      await made.waitFor();
      await made.getByRole('figure', { name: 'curl command' }).getByRole('button', { name: 'Copy' }).click();
      await made.getByText('Copied', { exact: true }).waitFor();
      const copied = await clipboardOf(page);
      const [, key = '', id = ''] = /x-api-key: (vx_([0-9a-f]{12})_\S+)'/.exec(copied) ?? [];
      assert.equal(await made.getByRole('figure', { name: 'The key' }).locator('code').textContent(), key);
      await assertAccessible(page);

      const curl = async (): Promise<string> => {
        const line = `${copied.replace('recording.wav', recording)} --silent --output /dev/null --write-out '%{http_code}'`;
        return (await run('sh', ['-c', line])).stdout;
      };
      assert.equal(await curl(), '200');

      // A further one does not hide it.
      await page.getByRole('button', { name: 'Create a key' }).click();
      await dialog.getByLabel('Name').fill('second');
      await dialog.getByRole('button', { name: 'Create' }).click();
      const second = page.getByRole('region', { name: 'The new key: second' });
      await second.getByRole('button', { name: 'I have copied it' }).click();
      await second.waitFor({ state: 'detached' });

      // It is not shown again.
      await made.getByRole('button', { name: 'I have copied it' }).click();
      await made.waitFor({ state: 'detached' });
      assert.ok(!(await page.content()).includes(key));
      const row = page.getByRole('row').filter({ hasText: id });
      await row.getByText('5,000 requests per 60 s').waitFor();

      // Limits change; untouched ones stay.
      await row.getByRole('button', { name: 'Edit' }).click();
      const editing = page.getByRole('dialog', { name: `Edit key ${id}` });
      await editing.getByLabel('Requests at once').selectOption('Custom');
      await editing.getByLabel('At most').fill('3');
      await editing.getByRole('button', { name: 'Save' }).click();
      await row.getByText('3 at once').waitFor();
      await row.getByText('5,000 requests per 60 s').waitFor();
      await keepPicture(page, 'keys', 'light');

      await row.getByRole('link', { name: 'Usage' }).click();
      await page.getByRole('heading', { name: 'Requests per day' }).waitFor();
      const used = page
        .getByRole('region', { name: 'Totals' })
        .getByRole('row')
        .filter({ hasText: 'web shop' });
      assert.equal(await used.getByRole('cell').nth(1).textContent(), '1');
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download as CSV' }).click();
      const csv = fs.readFileSync(await (await downloading).path(), 'utf8');
      assert.match(csv, new RegExp(`^"[0-9-]{10}","acme","${id}","web shop","",1,0,`, 'm'));
      await assertAccessible(page);

      await page.goBack();
      await row.getByRole('button', { name: 'Revoke' }).click();
      const asking = page.getByRole('dialog', { name: `Revoke key ${id}?` });
      await asking.getByRole('button', { name: 'Go back' }).click();
      await row.getByText('active').waitFor();
      await row.getByRole('button', { name: 'Revoke' }).click();
      await asking.getByRole('button', { name: 'Revoke' }).click();
      await row.waitFor({ state: 'detached' });
      await page.getByLabel('Include expired and revoked keys').check();
      await row.getByText('revoked').waitFor();
      await eventually(async () => (await curl()) === '401', 'the key is refused');
    },
  );

  await suite.test('keys and usage in the dark, and on a narrow page', async (t) => {
    const server = await startDashboardServer(t);
    for (const name of ['night shift', 'day shift', 'web shop']) await server.client(name);
    await addUsage(server.database);
    const dark = await openPage(t, browser, server.origin, { theme: 'dark' });
    await server.signIn(dark, 'admin', 'keys');
    await dark.getByRole('cell', { name: 'predict' }).first().waitFor();
    await assertAccessible(dark);
    await keepPicture(dark, 'keys', 'dark');
    await dark.getByRole('link', { name: 'Usage', exact: true }).click();
    await dark.getByRole('region', { name: 'Totals' }).waitFor();
    await assertAccessible(dark);
    await keepPicture(dark, 'usage', 'dark');
    const light = await openPage(t, browser, server.origin);
    await server.signIn(light, 'admin', 'usage');
    await light.getByText('The plot as a table').click();
    const plotted = light.getByRole('region', { name: 'Plotted values' }).getByRole('row');
    assert.equal(await plotted.count(), 31);
    await light.getByText('The plot as a table').click();
    await keepPicture(light, 'usage', 'light');

    // Figures of other days must not stand under days that were refused.
    await light.route('**/v1/admin/usage?*', (route) => route.fulfill({ status: 400, json: {} }));
    await light.getByRole('button', { name: '90 days' }).click();
    await light.getByRole('alert').waitFor();
    assert.equal(await light.getByRole('region', { name: 'Totals' }).count(), 0);

    const narrow = await openPage(t, browser, server.origin, { width: 360 });
    for (const view of ['keys', 'usage']) {
      await server.signIn(narrow, 'viewer', view);
      await narrow.getByRole('table').first().waitFor();
      await assertAccessible(narrow);
      await assertNoSidewaysScrolling(narrow);
    }
    // A viewer can read.
    await server.signIn(narrow, 'viewer', 'keys');
    await narrow.getByRole('table').waitFor();
    assert.equal(await narrow.getByRole('button', { name: /Create|Edit|Revoke/ }).count(), 0);
  });
});
