// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { withDatabase } from '../../src/state/database/open-database.js';
import { verifyAudit } from '../../src/state/records/audit-verify.js';
import { UsageTable } from '../../src/state/records/usage-table.js';
import { Cli, runCli, temporaryFolder } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { request } from '../support/http-client.js';
import { sqliteIn } from '../support/stored-keys.js';

/** The library that `faketime` preloads; asked of itself, because its place differs between machines. */
function fakeTimeLibrary(): string {
  const output = execFileSync('faketime', ['-f', '+0d', 'sh', '-c', 'echo $LD_PRELOAD'], {
    encoding: 'utf8',
  });
  // The version for programs with threads is next to it.
  return output.trim().replace('libfaketime.so', 'libfaketimeMT.so');
}

test('a clock that jumps while a server runs, by 500 days and by two days back, costs none of its records', async (t) => {
  const dataDir = temporaryFolder(t);
  const offset = path.join(dataDir, '..', `${path.basename(dataDir)}.offset`);
  t.after(() => fs.rmSync(offset, { force: true }));
  const set = (text: string): void => fs.writeFileSync(offset, text);
  set('+0d');
  const env = {
    VERAVOX_DATA_DIR: dataDir,
    PORT: '0',
    VERAVOX_AUDIT_DAYS: '1',
    VERAVOX_USAGE_DAYS: '1',
    LD_PRELOAD: fakeTimeLibrary(),
    FAKETIME_TIMESTAMP_FILE: offset,
    FAKETIME_NO_CACHE: '1',
    DONT_FAKE_MONOTONIC: '1',
  };
  const server = new Cli(['serve'], env);
  t.after(() => server.child.kill('SIGKILL'));
  const [, port] = await server.printed(/is ready on \S+:(\d+)\n/);
  const [key = ''] = await server.printed(/vx_\w{12}_[\w-]{43}/);
  const days = (folder: string): Set<string> => {
    const dir = path.join(dataDir, folder);
    const names = fs.existsSync(dir) ? fs.readdirSync(dir) : [];
    return new Set(names.filter((name) => /^\d{4}-/.test(name)).map((name) => name.slice(0, 10)));
  };
  const usageDays = async (): Promise<Set<string>> =>
    withDatabase(sqliteIn(dataDir), async (database) => new Set(await new UsageTable(database).days()));
  const seen = new Set<string>();
  for (const jump of ['+0d', '+500d', '+0d', '-2d', '+0d', '+501d', '+0d']) {
    set(jump);
    const headers = { 'x-api-key': key };
    assert.equal(
      (await request(Number(port), '/v1/file?key_prefix=&entity=analysis', { headers })).status,
      200,
    );
    const offsetMs = Number.parseInt(jump, 10) * 86_400_000;
    seen.add(new Date(Date.now() + offsetMs).toISOString().slice(0, 10));
    const isWritten = async () => {
      const [audit, usage] = [days('audit'), await usageDays()];
      return [...seen].every((day) => audit.has(day) && usage.has(day));
    };
    await eventually(isWritten, `after ${jump} all of ${[...seen].join(', ')} are there`);
  }
  server.child.kill('SIGTERM');
  assert.equal((await server.finished).status, 0);
  const counted = await usageDays();
  for (const day of seen) assert.ok(days('audit').has(day) && counted.has(day), day);
  assert.deepEqual((await verifyAudit(path.join(dataDir, 'audit'))).problems, []);
  const usage = await runCli(['usage', '--json'], { VERAVOX_DATA_DIR: dataDir });
  const requests = usage.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).requests);
  assert.equal(
    requests.reduce((sum, count) => sum + count, 0),
    7,
  );
});
