// SPDX-License-Identifier: Apache-2.0
//
// `veravox models import` without PyTorch. training/tests/test_imported.py tests Python's conversion of a checkpoint.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
import { Cli, runCli, runModels, temporaryFolder } from '../support/cli.js';
import {
  type Behaviour,
  callsOf,
  logits,
  standInPython,
  WINDOW_SAMPLES,
} from '../support/stand-in-python.js';
import { until } from '../support/until.js';

const family = 'xlsr-aasist';

function prepare(t: TestContext, behaviour: Behaviour) {
  const tools = temporaryFolder(t);
  const modelsDir = path.join(temporaryFolder(t), 'models');
  const checkpoint = path.join(tools, 'checkpoint.pth');
  fs.writeFileSync(checkpoint, 'parameters');
  const python = standInPython(tools, behaviour);
  const args = ['models', 'import', family, checkpoint, '--models-dir', modelsDir, '--python', python];
  const env = { VERAVOX_DATA_DIR: path.join(tools, 'data') };
  const start = (...more: readonly string[]) => new Cli([...args, '--id', 'tiny', ...more], env);
  return {
    tools,
    modelsDir,
    checkpoint,
    args,
    env,
    start,
    run: (...more: string[]) => start(...more).finished,
  };
}

/** The files in the models folder, except the lock between imports. */
const filesIn = (folder: string): string[] =>
  fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name !== '.import.lock') : [];

const isAlive = (pid: number): boolean => fs.existsSync(`/proc/${pid}`);

test('what Python refuses is passed on, and nothing is written', async (t) => {
  const expectations: [Behaviour, RegExp][] = [
    ['lacks packages', /lacks Python packages: onnx torch\. .*pip install torch onnx numpy.*--python/],
    [
      'refuses',
      /cannot be imported as xlsr-aasist:\n {2}2 missing: LL\.weight, LL\.bias\.\n {2}1 unexpected: proj_fc\.weight\./,
    ],
    ['crashes', /The conversion failed \(1\):\n {2}Traceback\n {2}MemoryError: no room for 1264177160 bytes/],
    ['writes no onnx', /not an ONNX file/],
    [
      'writes other logits',
      /other logits than PyTorch: they differ by 0\.0030, and at most 0\.001 is right for float32/,
    ],
  ];
  for (const [behaviour, pattern] of expectations) {
    const { modelsDir, run } = prepare(t, behaviour);
    const { status, stdout, stderr } = await run();
    assert.equal(status, 1, behaviour);
    assert.match(stderr, pattern);
    assert.equal(stdout, '');
    assert.deepEqual(filesIn(modelsDir), [], behaviour);
  }
});

test('a wrong call is refused before Python is run', async (t) => {
  const { tools, modelsDir, checkpoint, args, env, run } = prepare(t, 'works');
  const unknown = await runCli(['models', 'import', 'other', checkpoint], env);
  assert.equal(unknown.status, 2);
  assert.match(unknown.stderr, /Allowed choices are xlsr-aasist, xlsr-sls/);
  const missing = await runCli(args.with(3, path.join(tools, 'gone.pth')), env);
  assert.match(missing.stderr, /There is no such file or folder: .*gone\.pth/);
  const folder = await runCli(args.with(3, tools), env);
  assert.match(folder.stderr, /is not a file/);
  const shipped = await runCli(args.with(5, path.join(packageDir, 'models')), env);
  assert.match(shipped.stderr, /belongs to veravox, and an update replaces it/);
  const name = await run('--id', 'Not An Id');
  assert.equal(name.status, 2);
  for (const { status } of [missing, folder, shipped]) assert.equal(status, 1);
  assert.deepEqual(callsOf(tools), []);
  const noPython = await runCli([...args.slice(0, -1), path.join(tools, 'no-python')], env);
  assert.match(noPython.stderr, /no-python cannot be run: .*ENOENT.* Name a Python with --python\./);
  assert.deepEqual(filesIn(modelsDir), []);
});

test('an imported model has an entry that can be recorded, checked and asked', async (t) => {
  const { tools, modelsDir, checkpoint, run } = prepare(t, 'works');
  const { status, stdout, stderr } = await run(
    '--alias',
    'best',
    '--precision',
    'float16',
    '--licence',
    'mine',
  );
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^Imported tiny \(xlsr-aasist, .*float16\)\.$/m);
  assert.match(stdout, /have never seen a real checkpoint of this family/);
  assert.match(stdout, /veravox models record tiny --models-dir/);
  assert.match(stdout, /veravox models calibrate tiny YOUR-LIST\.csv/);
  assert.match(
    callsOf(tools)[0] as string,
    /-m imported\.convert --family xlsr-aasist .*--precision float16/,
  );
  assert.deepEqual(filesIn(modelsDir).sort(), ['manifest.json', 'tiny.onnx', 'tiny.onnx.data']);

  const { models } = JSON.parse(fs.readFileSync(path.join(modelsDir, 'manifest.json'), 'utf8'));
  const [entry] = models;
  const digest = (file: string) => createHash('sha256').update(fs.readFileSync(file)).digest('hex');
  assert.equal(entry.sha256, digest(path.join(modelsDir, 'tiny.onnx')));
  assert.equal(entry.weights_sha256, digest(path.join(modelsDir, 'tiny.onnx.data')));
  assert.equal(entry.training.checkpoint_sha256, digest(checkpoint));
  assert.equal(entry.licence, 'mine');
  assert.deepEqual(entry.aliases, ['best']);
  assert.deepEqual(entry.input, { name: 'waveform', shape: ['batch', WINDOW_SAMPLES] });
  assert.deepEqual(entry.output, { name: 'logits', kind: 'logit', index: 0 });
  assert.deepEqual([entry.window_samples, entry.hop_samples], [WINDOW_SAMPLES, 80_000 - WINDOW_SAMPLES]);

  const recorded = await runModels(modelsDir, 'record');
  assert.equal(recorded.status, 0, recorded.stderr);
  const after = JSON.parse(fs.readFileSync(path.join(modelsDir, 'manifest.json'), 'utf8'));
  // Index 0 means AI-generated; the mean of a recording is close to 0.
  const expected = 1 / (1 + Math.exp(logits[1] - logits[0]));
  for (const score of after.models[0].known_answers.flatMap(({ scores }: { scores: number[] }) => scores)) {
    assert.ok(Math.abs(score - expected) < 1e-3, String(score));
  }
  const checked = await runModels(modelsDir, 'check', '--runs', '1');
  assert.equal(checked.status, 0, checked.stdout);
});

test('a name that is taken is refused before Python is run; another one joins the manifest', async (t) => {
  const { tools, modelsDir, run } = prepare(t, 'works');
  assert.equal((await run('--alias', 'best')).status, 0);
  const before = fs.readFileSync(path.join(modelsDir, 'manifest.json'), 'utf8');
  const again = await run();
  assert.equal(again.status, 1);
  assert.match(again.stderr, /tiny has the name tiny already\. .* choose another with --id or --alias/);
  const alias = await run('--id', 'next', '--alias', 'best');
  assert.match(alias.stderr, /tiny has the name best already/);
  assert.equal(callsOf(tools).length, 1);
  assert.equal(fs.readFileSync(path.join(modelsDir, 'manifest.json'), 'utf8'), before);
  assert.equal((await run('--id', 'next', '--spoof-index', '1')).status, 0);
  const { models } = JSON.parse(fs.readFileSync(path.join(modelsDir, 'manifest.json'), 'utf8'));
  assert.deepEqual(
    models.map(({ id, output }: { id: string; output: { index: number } }) => [id, output.index]),
    [
      ['tiny', 0],
      ['next', 1],
    ],
  );
});

test('an interrupted import ends Python and leaves nothing; a second one at the same time is refused', async (t) => {
  const { tools, modelsDir, run, start } = prepare(t, 'hangs');
  const first = start();
  await until(() => fs.existsSync(path.join(tools, 'hanging')));
  const second = await run('--id', 'next');
  assert.match(second.stderr, /Another import into .* is running/);
  first.child.kill('SIGTERM');
  const { status, stderr } = await first.finished;
  assert.equal(status, 1);
  assert.match(stderr, /interrupted\. Nothing was imported/);
  const [pid] = (callsOf(tools)[0] as string).split(' ');
  await until(() => !isAlive(Number(pid)));
  assert.deepEqual(filesIn(modelsDir), []);
});

test('what a killed import left is removed by the next one', async (t) => {
  const { tools, modelsDir, run, start } = prepare(t, 'hangs');
  const first = start();
  await until(() => fs.existsSync(path.join(tools, 'hanging')));
  first.child.kill('SIGKILL');
  await first.finished.catch(() => {});
  const [pid] = (callsOf(tools)[0] as string).split(' ');
  process.kill(Number(pid), 'SIGKILL');
  assert.equal(filesIn(modelsDir).length, 1);
  fs.writeFileSync(path.join(tools, 'behaviour'), 'works');
  assert.equal((await run()).status, 0);
  assert.deepEqual(filesIn(modelsDir).sort(), ['manifest.json', 'tiny.onnx', 'tiny.onnx.data']);
});

function smallDisk(t: TestContext): string | undefined {
  const folder = temporaryFolder(t);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=60m,mode=700', 'tmpfs', folder], { stdio: 'pipe' });
  } catch {
    return undefined;
  }
  t.after(() => execFileSync('umount', ['-l', folder]));
  return folder;
}

test('a disk that is or becomes full is named, and keeps nothing of the import', async (t) => {
  const disk = smallDisk(t);
  if (disk === undefined) return t.skip('no file system can be mounted here');
  const { checkpoint, args, env } = prepare(t, 'fills the disk');
  const onDisk = [...args.with(5, disk), '--id', 'tiny'];
  const full = await runCli(onDisk, env);
  assert.equal(full.status, 1);
  assert.match(full.stderr, /The conversion failed .*ENOSPC/s);
  assert.deepEqual(filesIn(disk), []);
  fs.truncateSync(checkpoint, 20_000_000);
  const tooLarge = await runCli(onDisk, env);
  assert.equal(tooLarge.status, 1);
  assert.match(tooLarge.stderr, /has \d+ MB left; the model may need 70 MB/);
  assert.deepEqual(filesIn(disk), []);
});
