// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCli, temporaryFolder } from '../support/cli.js';
import { commandHelps } from '../support/command-helps.js';

const withJson = [
  'predict',
  'enroll',
  'verify',
  'identify',
  'evaluate',
  'usage',
  'keys list',
  'admin users',
  'webhooks secrets',
  'webhooks deliveries',
  'models list',
  'audit verify',
  'doctor',
  'bench',
];

test('--json is a switch', async () => {
  const helps = new Map((await commandHelps()).map(({ path, text }) => [path, text]));
  for (const command of withJson) assert.match(helps.get(command) ?? '', /^ {2}--json {2,}\S/m, command);
});

test('models list --json has a line per model', async () => {
  const { stdout, stderr } = await runCli(['models', 'list', '--json']);
  const models = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(models.length, 4, stderr);
  assert.deepEqual(Object.keys(models[0]), [
    'id',
    'task',
    'file',
    'window_samples',
    'recipe',
    'input_shape',
    'licence',
    'known_answers',
    'aliases',
  ]);
});

test('audit verify --json is one object', async (t) => {
  const { stdout, status } = await runCli(['audit', 'verify', '--json'], {
    VERAVOX_DATA_DIR: temporaryFolder(t),
  });
  assert.equal(status, 0);
  assert.deepEqual(Object.keys(JSON.parse(stdout)), ['problems', 'remarks', 'files', 'lines', 'last']);
});

test('doctor --json has a line per check, and its exit code stays', async (t) => {
  const folder = temporaryFolder(t);
  const { stdout, status } = await runCli(['doctor', '--json'], {
    VERAVOX_DATA_DIR: folder,
    VERAVOX_MODELS_DIR: folder,
  });
  assert.equal(status, 1);
  const checks = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const models = checks.find(({ name }) => name === 'models');
  assert.equal(models.result, 'missing');
  assert.match(models.finding, /no manifest\.json/);
  assert.deepEqual(
    checks.find(({ name }) => name === 'settings'),
    { name: 'settings', result: 'ok', finding: 'valid' },
  );
});
