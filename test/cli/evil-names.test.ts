// SPDX-License-Identifier: Apache-2.0
//
// Files, keys, users, models and columns may have any name. A terminal obeys control characters, and a line break would begin a
// line that seems to be the program's.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
import { DeliveryWorkTable } from '../../src/jobs/queue/delivery-work-table.js';
import { JobTable } from '../../src/jobs/queue/job-table.js';
import { SqliteDatabase } from '../../src/state/database/sqlite-database.js';
import { runCli } from '../support/cli.js';
import { commandHelps } from '../support/command-helps.js';
import { editManifest } from '../support/imported-models.js';
import { writeTinyVoices } from '../support/speaker-models.js';
import { createKey } from '../support/stored-keys.js';
import { savePoint, saveProfile, somePoint, someProfile } from '../support/stored-points.js';

const FORGED = 'trusted.wav  bonafide  score 0.000';
const EVIL = `\u001b]0;title\u0007\u001b[2K\r\u009b31m\u202e\u2028\n${FORGED}`;
/** Characters in a line that terminals obey, or that hide or turn text. */
const MISLEADING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-evil-'));
const dataDir = path.join(folder, EVIL);
const modelsDir = path.join(folder, `${EVIL}models`);
const speech = path.join(folder, `${EVIL}.opus`);
const noFile = path.join(folder, `${EVIL}none`);
const list = path.join(folder, `${EVIL}.csv`);
const env = { VERAVOX_DATA_DIR: dataDir, VERAVOX_MODELS_DIR: modelsDir };
const voiceprint = path.join(folder, `${EVIL}.json`);
const voiceprints = path.join(folder, `${EVIL}s.json`);
const voiceprintLines = path.join(folder, `${EVIL}s.jsonl`);

after(() => fs.rmSync(folder, { recursive: true }));

before(async () => {
  fs.mkdirSync(modelsDir);
  writeTinyVoices(modelsDir);
  editManifest(modelsDir, (models) => {
    models[0].licence = EVIL;
  });
  const fixture = (name: string): string => path.join(packageDir, 'test/fixtures', name);
  fs.copyFileSync(fixture('human-vctk-p226-a.opus'), speech);
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const rows = [
    [path.basename(speech), 'bonafide'],
    [path.relative(folder, fixture('ai-kokoro.flac')), 'spoof'],
    [path.basename(noFile), 'spoof'],
  ];
  const lines = rows.map(([file = '', label]) => [quoted(file), label, quoted(EVIL)].join(','));
  fs.writeFileSync(list, `path,label,${quoted(EVIL)}\n${lines.join('\n')}\n`);

  await createKey(dataDir, { name: 'any', account: 'any', scopes: ['predict'] });
  await savePoint(dataDir, { ...somePoint, model: EVIL, list: EVIL });
  await saveProfile(dataDir, { ...someProfile, name: EVIL, model: EVIL });
  await runCli(['admin', 'add', 'ada', '--role', 'viewer'], env);
  await runCli(['webhooks', 'create-secret'], env);
  const { stdout } = await runCli(['enroll', speech, '--json'], env);
  fs.writeFileSync(voiceprint, stdout);
  const listed = { id: EVIL, embedding: JSON.parse(stdout).embedding };
  fs.writeFileSync(voiceprints, JSON.stringify([listed]));
  fs.writeFileSync(
    voiceprintLines,
    `${JSON.stringify(listed)}\n${JSON.stringify({ ...listed, id: 'any' })}\n`,
  );

  // Predates the rules for names.
  const database = new SqliteDatabase(path.join(dataDir, 'veravox.db'));
  const { job } = await new JobTable(database, { maxUnfinished: 0 }).create({
    account: EVIL,
    keyId: EVIL,
    task: 'predict',
    source: '{}',
    parameters: '{}',
    callbackUrl: 'https://hooks.example/end',
  });
  await new JobTable(database, { maxUnfinished: 0 }).cancel(EVIL, job.id);
  const workTable = new DeliveryWorkTable(database);
  const turn = (await workTable.take()) ?? assert.fail('it is due');
  await workTable.fail(turn, { atMs: 1, tookMs: 5, problem: EVIL }, { isFinal: true });
  await database.execute('UPDATE api_keys SET name = $1, account = $1', [EVIL]);
  await database.execute('UPDATE admin_users SET name = $1, account = $1', [EVIL]);
  await database.execute('UPDATE webhook_secrets SET account = $1', [EVIL]);
  await database.execute(
    `INSERT INTO usage_counts (day, key_id, account, route, requests, errors, audio_s, windows, bytes)
     VALUES ('2026-11-20', $1, $1, $1, 1, 0, 0, 0, 0)`,
    [EVIL],
  );
  await database.close();
});

/** Each command's arguments for showing names: a new command needs an entry. */
const shows: Readonly<Record<string, readonly (readonly string[])[]>> = {
  // The settings include one.
  serve: [[]],
  work: [[]],
  'keys create': [['--name', EVIL]],
  'keys list': [[], ['--json']],
  'keys revoke': [[EVIL]],
  'admin users': [[]],
  'admin add': [[EVIL, '--role', 'viewer']],
  'admin link': [[EVIL]],
  'admin password': [[EVIL]],
  'admin change': [[EVIL, '--role', 'viewer']],
  'admin disable': [[EVIL]],
  'admin enable': [[EVIL]],
  'admin revoke-sessions': [[EVIL]],
  'webhooks create-secret': [['--account', EVIL], []],
  'webhooks secrets': [[]],
  'webhooks revoke-secret': [[EVIL]],
  'webhooks deliveries': [[]],
  'webhooks replay': [[EVIL], ['--failed']],
  'database copy': [[]],
  backup: [[path.join(folder, `${EVIL}.backup`)], [path.join(noFile, EVIL)]],
  restore: [[noFile], [path.join(folder, `${EVIL}.backup`)]],
  predict: [
    [speech, noFile],
    [speech, noFile, '--json', '--fail-on', 'bonafide'],
  ],
  'audit verify': [[], ['--expect', EVIL]],
  usage: [[]],
  enroll: [
    [speech, speech],
    [speech, '--id', EVIL],
  ],
  verify: [[noFile, '--vector', voiceprint]],
  identify: [
    [speech, '--voiceprints', voiceprints],
    [speech, '--voiceprints', voiceprintLines],
  ],
  evaluate: [
    [list, '--group-by', EVIL],
    [list, '--group-by', EVIL, '--json'],
    [list, '--report', path.join(noFile, 'report.json')],
  ],
  'profiles make': [
    [EVIL, speech],
    ['any', noFile],
  ],
  'profiles list': [[]],
  'profiles show': [[EVIL], [`${EVIL}no`]],
  'profiles use': [
    [EVIL, '1'],
    [`${EVIL}no`, '1'],
  ],
  'profiles remove': [[`${EVIL}no`], [EVIL]],
  calibrate: [[list, '--name', EVIL, '--target-fpr', '0.1']],
  'models list': [[]],
  'models check': [['--models-dir', noFile]],
  'models import': [[EVIL, EVIL]],
  'models calibrate': [['tiny', list, '--dry-run']],
  'models record': [[EVIL]],
  bench: [
    [EVIL, '--key-file', list],
    ['http://127.0.0.1:1', '--key-file', noFile],
    ['http://127.0.0.1:1', noFile, '--key-file', list],
  ],
  openapi: [[]],
  doctor: [[]],
};
const settings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  serve: { PORT: EVIL },
  work: { PORT: EVIL },
  openapi: { PORT: EVIL },
  'database copy': { VERAVOX_DATA_DIR: noFile, VERAVOX_DATABASE_URL: 'postgres://any:any@127.0.0.1:1/any' },
};

function assertHarmless(text: string, what: string): void {
  for (const line of text.split('\n')) {
    assert.doesNotMatch(line, MISLEADING, `${what}: ${JSON.stringify(line)}`);
    assert.ok(!line.startsWith(FORGED), `${what}: a line of its own`);
  }
}

async function assertShown(command: string, args: readonly string[]): Promise<void> {
  const input = Buffer.from('a password of some length');
  const { stdout, stderr } = await runCli(
    [...command.split(' '), ...args],
    { ...env, ...settings[command] },
    { input },
  );
  const what = JSON.stringify(args);
  assertHarmless(stdout, `stdout with ${what}`);
  assertHarmless(stderr, `stderr with ${what}`);
  assert.ok(`${stdout}${stderr}`.includes(FORGED), `nothing was shown with ${what}: ${stdout}${stderr}`);
}

const commands = (await commandHelps()).map((help) => help.path);

test('each command is tried', () => {
  assert.deepEqual(Object.keys(shows).sort(), commands.toSorted());
});

for (const command of commands) {
  test(`veravox ${command} shows an evil name harmlessly, in results and in complaints`, async () => {
    for (const args of shows[command] ?? []) await assertShown(command, args);
  });
}

test('Commander shows unknown options and wrong values harmlessly', async () => {
  await assertShown('keys create', [`--${EVIL}`]);
  await assertShown('enroll', [speech, '--id', EVIL.repeat(20)]);
  await assertShown('predict', [speech, '--fail-on', EVIL]);
});

test('only the writer for terminals writes to one', () => {
  const sources = path.join(packageDir, 'src');
  const writers = fs
    .readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .filter((file) =>
      /\bstd(out|err)\.(write|end)\b|\bconsole\./.test(fs.readFileSync(path.join(sources, file), 'utf8')),
    );
  // Probes write to their parent process; under an old Node, main.ts can import nothing.
  const others = writers.filter((file) => !/^analysis\/scoring\/\w+-probe\.ts$/.test(file));
  assert.deepEqual(others.sort(), ['cli/main.ts', 'cli/output.ts']);
});
