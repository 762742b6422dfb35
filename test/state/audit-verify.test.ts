// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { AuditLog } from '../../src/state/records/audit-log.js';
import { verifyAudit } from '../../src/state/records/audit-verify.js';
import { Cli, runCli, temporaryFolder } from '../support/cli.js';

const act = { event: 'something', text: 'ünïcode, "quotes" and \\ ' };

/** Three days of three lines each; the first has an extra line that starts the chain. */
async function threeDays(t: TestContext) {
  const dataDir = temporaryFolder(t);
  let now = new Date();
  const log = new AuditLog(dataDir, { flushMs: 3_600_000, now: () => now });
  t.after(() => log.close());
  const days = ['2026-11-20', '2026-11-21', '2026-11-22'];
  for (const day of days) {
    now = new Date(`${day}T12:00:00Z`);
    for (let i = 0; i < 3; i++) log.note({ ...act, i });
    await log.flush();
  }
  const fileOf = (i: number): string => path.join(log.dir, `${days[i]}.jsonl`);
  const edit = (i: number, change: (lines: string[]) => string[]): void => {
    const lines = fs.readFileSync(fileOf(i), 'utf8').split('\n');
    fs.writeFileSync(fileOf(i), change(lines).join('\n'));
  };
  return { dataDir, dir: log.dir, log, fileOf, edit };
}

type Folder = Awaited<ReturnType<typeof threeDays>>;

const attacks: readonly [what: string, attack: (folder: Folder) => void, problem: RegExp][] = [
  [
    'a changed character',
    ({ edit }) => edit(1, ([a = '', b = '', ...rest]) => [a, b.replace('something', 'somethinG'), ...rest]),
    /^2026-11-21\.jsonl:2: line 6 was changed$/,
  ],
  [
    'a changed hash',
    ({ edit }) => edit(1, ([a = '', ...rest]) => [a.replace(/.("})$/, (_, end) => `x${end}`), ...rest]),
    /^2026-11-21\.jsonl:1: this is no line of the chain$/,
  ],
  [
    'a line that is missing',
    ({ edit }) => edit(1, ([a = '', _b, ...rest]) => [a, ...rest]),
    /^2026-11-21\.jsonl:2: line 6 is missing before this line$/,
  ],
  [
    'a line that is there twice',
    ({ edit }) => edit(1, ([a = '', ...rest]) => [a, a, ...rest]),
    /^2026-11-21\.jsonl:2: line 5 stands where 6 was expected$/,
  ],
  [
    'two lines that changed places',
    ({ edit }) => edit(1, ([a = '', b = '', ...rest]) => [b, a, ...rest]),
    /^2026-11-21\.jsonl:1: line 5 is missing before this line$/,
  ],
  [
    'a line of somebody else',
    ({ edit }) => edit(1, ([a = '', ...rest]) => [a, '{"event":"nothing"}', ...rest]),
    /^2026-11-21\.jsonl:2: this is no line of the chain$/,
  ],
  [
    'a file that is missing in the middle',
    ({ fileOf }) => fs.rmSync(fileOf(1)),
    /^2026-11-22\.jsonl:1: lines 5 to 7 are missing before this line$/,
  ],
  [
    'a first file that is missing',
    ({ fileOf }) => fs.rmSync(fileOf(0)),
    /^the first line is 5: those before it are missing, and no line says that their time was over$/,
  ],
  [
    'a last file that is missing',
    ({ fileOf }) => fs.rmSync(fileOf(2)),
    /^2026-11-21\.jsonl:3: lines 8 to 10 are missing behind this line$/,
  ],
  [
    'an end that is missing',
    ({ edit }) => edit(2, ([a = '']) => [a, '']),
    /^2026-11-22\.jsonl:1: lines 9 to 10 are missing behind this line$/,
  ],
  [
    'an end in the middle of a line',
    ({ fileOf }) => fs.truncateSync(fileOf(2), fs.statSync(fileOf(2)).size - 10),
    /^2026-11-22\.jsonl:3: this is no line of the chain$/,
  ],
  [
    'a head that is missing',
    ({ dir }) => fs.rmSync(path.join(dir, 'head.json')),
    /^head\.json is missing or damaged/,
  ],
];
for (const [what, attack, expected] of attacks) {
  test(`${what} is found, also after more lines were written`, async (t) => {
    const folder = await threeDays(t);
    attack(folder);
    const { problems } = await verifyAudit(folder.dir);
    assert.match(problems[0] ?? 'none', expected);
    folder.log.note(act);
    await folder.log.flush();
    const later = await verifyAudit(folder.dir);
    assert.ok(later.problems.length > 0, 'it is still found');
    assert.ok(later.last.seq > 3, 'the chain goes on');
  });
}

test('what was cut off the end, with a head to match, is missed by a reader of the last line noted', async (t) => {
  const { dir, edit } = await threeDays(t);
  const { last } = await verifyAudit(dir);
  const head = JSON.parse(fs.readFileSync(path.join(dir, 'head.json'), 'utf8'));
  edit(2, ([a = '']) => [a, '']);
  const [line = ''] = fs.readFileSync(path.join(dir, head.file), 'utf8').split('\n');
  const { seq, hash } = JSON.parse(line);
  fs.writeFileSync(
    path.join(dir, 'head.json'),
    JSON.stringify({ ...head, seq, hash, bytes: line.length + 1 }),
  );
  assert.deepEqual((await verifyAudit(dir)).problems, []);
  assert.match(
    (await verifyAudit(dir, last)).problems[0] ?? '',
    /^there is no line 10 with the hash [0-9a-f]{64}$/,
  );
});

test('a crash between the first lines and their note leaves nothing to explain', async (t) => {
  const log = new AuditLog(temporaryFolder(t), { flushMs: 3_600_000 });
  t.after(() => log.close());
  const headFile = path.join(log.dir, 'head.json');
  for (const i of [0, 1]) log.note({ ...act, i });
  await log.flush();
  const empty = { version: 1, seq: 0, hash: '0'.repeat(64), file: '', bytes: 0 };
  fs.writeFileSync(headFile, JSON.stringify(empty));
  log.note({ ...act, i: 2 });
  await log.flush();
  assert.equal(JSON.parse(fs.readFileSync(headFile, 'utf8')).seq, 4);
  const { problems, remarks, lines } = await verifyAudit(log.dir);
  assert.deepEqual([problems, remarks, lines], [[], [], 4]);
});

test('files of before the chain are left alone and named', async (t) => {
  const { dir } = await threeDays(t);
  fs.writeFileSync(path.join(dir, '2026-11-01.jsonl'), '{"time":"2026-11-01T12:00:00.000Z","status":200}\n');
  const { problems, remarks } = await verifyAudit(dir);
  assert.deepEqual(problems, []);
  assert.match(remarks[0] ?? '', /^2026-11-01\.jsonl is from before/);
});

test('a chain that nobody touched holds, and by the rule in the documentation, too', async (t) => {
  const { dir } = await threeDays(t);
  const { problems, remarks, files, lines, last } = await verifyAudit(dir);
  assert.deepEqual([problems, remarks, files, lines, last.seq], [[], [], 3, 10, 10]);
  // Another program: each hash covers the one before it and the line up to its own.
  const program = `
import sys, glob, hashlib
before, count = '0' * 64, 0
for name in sorted(glob.glob(sys.argv[1] + '/*.jsonl')):
    for line in open(name, encoding='utf-8'):
        body, _, own = line.rstrip('\\n').rpartition(',"hash":"')
        assert hashlib.sha256((before + body).encode()).hexdigest() == own[:64], line
        before, count = own[:64], count + 1
print(count, before)`;
  const output = execFileSync('python3', ['-c', program, dir], { encoding: 'utf8' });
  assert.equal(output, `10 ${last.hash}\n`);
});

test('commands and a server that run at the same time write one chain, which the command line checks', async (t) => {
  const env = { VERAVOX_DATA_DIR: temporaryFolder(t), PORT: '0' };
  const server = new Cli(['serve'], env);
  t.after(() => server.child.kill('SIGKILL'));
  await server.printed(/is ready on/);
  const created = await Promise.all(
    Array.from({ length: 4 }, () => runCli(['keys', 'create', '--account', 'acme'], env)),
  );
  const ids = created.map(({ stdout }) => stdout.slice(3, 15));
  assert.equal((await runCli(['keys', 'revoke', ids[0] ?? ''], env)).status, 0);
  const beside = await runCli(['audit', 'verify'], env);
  assert.equal(beside.status, 0, beside.stdout + beside.stderr);
  const [, witness = ''] = /^Last line: (\S+)$/m.exec(beside.stdout) ?? [];
  server.child.kill('SIGTERM');
  await server.finished;

  const good = await runCli(['audit', 'verify', '--expect', witness], env);
  assert.equal(good.status, 0, good.stdout);
  const dir = path.join(env.VERAVOX_DATA_DIR, 'audit');
  const names = fs.readdirSync(dir).filter((name) => name.endsWith('.jsonl'));
  const lines = names.flatMap((name) => fs.readFileSync(path.join(dir, name), 'utf8').trimEnd().split('\n'));
  const events = lines.map((line) => JSON.parse(line));
  const counts: Record<string, number> = {};
  for (const { event } of events) counts[event] = (counts[event] ?? 0) + 1;
  assert.deepEqual(counts, {
    chain_started: 1,
    server_started: 1,
    key_created: 5,
    key_revoked: 1,
    audit_verified: 2,
    server_stopping: 1,
  });
  for (const id of ids) {
    const [line] = events.filter(({ event, keyId }) => event === 'key_created' && keyId === id);
    assert.deepEqual([line.account, line.uid], ['acme', process.getuid?.()]);
  }
  const name = path.join(dir, names[0] ?? '');
  fs.writeFileSync(name, fs.readFileSync(name, 'utf8').replace('"acme"', '"acmE"'));
  const bad = await runCli(['audit', 'verify'], env);
  assert.equal(bad.status, 1);
  assert.match(bad.stdout, /^FAILED {2}\S+\.jsonl:\d+: line \d+ was changed$/m);
});
