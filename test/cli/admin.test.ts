// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { PASSWORD, postSession, signIn } from '../support/admin.js';
import { Cli, runCli, temporaryFolder } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { request } from '../support/http-client.js';
import { writeTinyModels } from '../support/tiny-models.js';

const session = '/v1/admin/session';
const ORIGIN = 'https://voices.example.com';

const tokenIn = (text: string): string => /#\/welcome\?token=([\w-]{43})/.exec(text)?.[1] ?? '';

const tinyServer = (t: TestContext) => ({
  VERAVOX_DATA_DIR: temporaryFolder(t),
  VERAVOX_MODELS_DIR: writeTinyModels(temporaryFolder(t), 'even'),
  PORT: '0',
});

test('the first start prints a link that makes the first user; sessions hold on all processes, and the shell ends them', async (t) => {
  const env = { ...tinyServer(t), VERAVOX_PROCESSES: '2' };
  const server = new Cli(['serve'], env);
  t.after(() => server.child.kill('SIGKILL'));
  const [, port] = await server.printed(/is ready on \S+:(\d+)\n/);
  const [link = ''] = await server.printed(
    /http:\/\/127\.0\.0\.1:\d+\/dashboard\/#\/welcome\?token=[\w-]{43}\n/,
  );
  assert.ok(link.includes(`:${port}/`));
  const browser = await signIn(Number(port), { token: tokenIn(link), password: PASSWORD });
  const statuses = async (): Promise<number[]> => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => browser.call('GET', session)));
    return [...new Set(answers.map(({ status }) => status))];
  };
  assert.deepEqual(await statuses(), [200]);
  const { stderr, status } = await runCli(['admin', 'revoke-sessions', 'ADMIN'], env);
  assert.equal(status, 0);
  assert.match(stderr, /Ended 1 session of ADMIN\./);
  await eventually(async () => String(await statuses()) === '401', 'all processes end it');
});

test('with the dashboard off nothing is printed, and no route of it exists', async (t) => {
  const env = { ...tinyServer(t), VERAVOX_DASHBOARD: 'off' };
  const server = new Cli(['serve'], env);
  t.after(() => server.child.kill('SIGKILL'));
  const [, port] = await server.printed(/is ready on \S+:(\d+)\n/);
  await server.printed(/-F 'file=@/);
  assert.doesNotMatch(server.stdout, /dashboard|welcome/);
  assert.equal((await request(Number(port), session)).status, 404);
  assert.equal((await postSession(Number(port), { name: 'a', password: 'b' })).status, 404);
});

test('users are made, listed, changed and disabled from a shell, and each act is in the audit', async (t) => {
  const dataDir = temporaryFolder(t);
  const env = { VERAVOX_DATA_DIR: dataDir, VERAVOX_DASHBOARD_ORIGIN: ORIGIN };
  const run = async (...args: string[]) => runCli(['admin', ...args], env);
  const first = await run('link');
  assert.match(first.stdout, new RegExp(`^${ORIGIN}/dashboard/#/welcome\\?token=[\\w-]{43}\n$`));
  const added = await run('add', 'Ada', '--role', 'admin');
  assert.equal(added.status, 0, added.stderr);
  assert.match(added.stdout, new RegExp(`^${ORIGIN}/dashboard/#/welcome\\?token=[\\w-]{43}&name=Ada\n$`));
  assert.match((await run('link')).stderr, /There are already users: name one of them\./);
  assert.match((await run('add', 'ADA', '--role', 'viewer')).stderr, /user with this name already exists/);
  const words = `${PASSWORD}\n`;
  const set = await runCli(['admin', 'password', 'ada'], env, { input: Buffer.from(words) });
  assert.equal(set.status, 0, set.stderr);
  const short = await runCli(['admin', 'password', 'ada'], env, { input: Buffer.from('short\n') });
  assert.match(short.stderr, /Expected a password of 12 to 256 characters on standard input but received 5/);
  assert.match((await run('disable', 'ada')).stderr, /must be a user with the role admin/);
  await run('add', 'Lin', '--role', 'viewer', '--account', 'acme');
  assert.match((await run('change', 'lin')).stderr, /Expected --role or --account\./);
  assert.equal((await run('change', 'lin', '--role', 'developer')).status, 0);
  assert.equal((await run('disable', 'lin')).status, 0);
  const listed = (await run('users', '--json')).stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    listed.map(({ name, role, account, has_password, disabled_at }) => [
      name,
      role,
      account,
      has_password,
      disabled_at !== null,
    ]),
    [
      ['Ada', 'admin', 'default', true, false],
      ['Lin', 'developer', 'acme', false, true],
    ],
  );
  assert.match((await run('users')).stdout, /Lin +developer +acme +nothing yet +\S+Z +disabled/);
  assert.match((await run('revoke-sessions', 'nobody')).stderr, /There is no user "nobody"\./);
  assert.equal((await run('add', 'a\nb', '--role', 'viewer')).status, 2);
  const auditDir = path.join(dataDir, 'audit');
  const files = fs.readdirSync(auditDir).filter((name) => name.endsWith('.jsonl'));
  const lines = files.flatMap((name) =>
    fs.readFileSync(path.join(auditDir, name), 'utf8').trimEnd().split('\n'),
  );
  const events = lines.map((line) => JSON.parse(line).event);
  for (const event of ['user_created', 'password_set', 'user_changed'])
    assert.ok(events.includes(event), event);
  assert.ok(!lines.some((line) => line.includes(PASSWORD)));
});
