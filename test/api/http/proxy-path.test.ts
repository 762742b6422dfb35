// SPDX-License-Identifier: Apache-2.0
//
// The server behind a proxy that serves it below a path and removes that path, like nginx.
import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { addUser, PASSWORD } from '../../support/admin.js';
import { launchBrowser, openPage } from '../../support/browser.js';
import { startDashboardServer } from '../../support/dashboard-server.js';
import { startJobServer } from '../../support/job-server.js';
import { API_KEY } from '../../support/test-keys.js';

const PATH = '/veravox';

interface Proxy {
  readonly origin: string;
  /** Paths that clients use. */
  readonly address: string;
  /** Requests outside the path. */
  readonly lost: string[];
  target: string;
}

async function startProxy(t: TestContext): Promise<Proxy> {
  const lost: string[] = [];
  const server = http.createServer((request, response) => {
    const { url = '', method, headers } = request;
    if (!url.startsWith(`${PATH}/`)) {
      lost.push(url);
      response.writeHead(404).end();
      return;
    }
    const sent = http.request(
      `${proxy.target}${url.slice(PATH.length)}`,
      { method, headers, setHost: false },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    sent.on('error', () => response.destroy());
    request.pipe(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy: Proxy = { origin, address: `${origin}${PATH}`, lost, target: '' };
  return proxy;
}

const publicAddress = ({ address }: Proxy) => ({ storagePublicUrl: address, dashboardOrigin: address });

test('all that the server says of its own address has the path', async (t) => {
  const proxy = await startProxy(t);
  const server = await startJobServer(t, { ...publicAddress(proxy), jobWorkers: 0 });
  proxy.target = server.origin;
  const headers = { 'x-api-key': API_KEY };
  const post = (path: string, body: object) =>
    fetch(`${proxy.address}${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  const upload = (await (await post('/v1/file', { keys: ['a b'], entity: 'analysis' })).json()) as {
    url: { value: string }[];
  };
  const to = upload.url[0]?.value ?? '';
  assert.ok(to.startsWith(`${proxy.address}/veravox/`), to);
  assert.equal((await fetch(to, { method: 'PUT', body: 'bytes' })).status, 200);
  const query = `${proxy.address}/v1/file?key_prefix=a&entity=analysis`;
  const download = (await (await fetch(query, { headers })).json()) as typeof upload;
  const link = download.url[0]?.value ?? '';
  assert.equal(await (await fetch(link)).text(), 'bytes');
  assert.equal((await fetch(link.replace('a%20b', 'c'))).status, 403);

  // The server also recognises its own link.
  const job = await post('/v1/jobs', { presigned_url: link });
  assert.equal(job.status, 202, await job.clone().text());
  const { id } = (await job.json()) as { id: string };
  assert.equal(job.headers.get('location'), `${PATH}/v1/jobs/${id}`);
  assert.equal(
    (await fetch(new URL(job.headers.get('location') ?? '', proxy.origin), { headers })).status,
    200,
  );

  const document = (await (await fetch(`${proxy.address}/openapi.json`)).json()) as {
    servers: { url: string }[];
  };
  assert.deepEqual(
    document.servers.map(({ url }) => url),
    [PATH],
  );
  for (const start of ['/dashboard', '/']) {
    const at = await fetch(`${proxy.address}${start}`, { headers: { accept: 'text/html' } });
    assert.deepEqual([at.status, at.url], [200, `${proxy.address}/dashboard/`]);
  }
  assert.deepEqual(proxy.lost, []);
});

test('people sign in to the dashboard, make links and read the documentation below the path', async (t) => {
  const proxy = await startProxy(t);
  const server = await startDashboardServer(t, { config: publicAddress(proxy) });
  proxy.target = server.origin;
  await addUser(server.database, 'admin', 'Ada');
  const page = await openPage(t, await launchBrowser(t), proxy.origin);
  await page.goto(`${proxy.address}/`);
  await page.getByLabel('Name').fill('Ada');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('link', { name: 'Users' }).click();
  await page.getByRole('button', { name: 'Add a user' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a user' });
  await dialog.getByLabel('Name').fill('Grace');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  const made = page.getByRole('region', { name: 'Link for Grace' });
  const link = (await made.locator('code').textContent()) ?? '';
  assert.ok(link.startsWith(`${proxy.address}/dashboard/#/welcome?token=`), link);
  await page.goto(`${proxy.address}/docs`);
  await page.getByText('/v1/predict', { exact: true }).first().waitFor();
  assert.deepEqual(proxy.lost, []);
});
