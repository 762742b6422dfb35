// SPDX-License-Identifier: Apache-2.0
//
// Readiness depends on the models' scores of clips with known answers.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import {
  type AnswerCheck,
  differenceOf,
  holds,
  toleranceFor,
  tolerances,
} from '../../src/analysis/known-answers/known-answers.js';
import { Cli, runCli, runModels, temporaryFolder } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { request } from '../support/http-client.js';
import { editManifest, importedModels } from '../support/imported-models.js';

const check: AnswerCheck = {
  modelId: 'm',
  file: 'clip.flac',
  expected: [0.5, 0.25],
  measured: [0.5, 0.25],
  tolerance: 0.01,
};

test('an answer holds only when it has as many numbers, each within the tolerance', () => {
  const difference = (measured: number[]) => differenceOf({ ...check, measured });
  assert.equal(difference([0.5]), Number.POSITIVE_INFINITY);
  assert.equal(difference([]), Number.POSITIVE_INFINITY);
  assert.equal(difference([Number.NaN, 0.25]), Number.POSITIVE_INFINITY);
  assert.equal(difference([0.5, 0.75]), 0.5);
  assert.ok(!holds({ ...check, measured: [0.5, 0.2601] }));
  assert.ok(!holds({ ...check, measured: [0.4899, 0.25] }));
  assert.ok(holds({ ...check, measured: [0.5099, 0.2401] }));
});

test('a GPU has its own tolerance where the answer gives one, else that of the answer, else the default', () => {
  const both = { tolerance: 0.004, cuda_tolerance: 0.03 };
  assert.equal(toleranceFor('cpu', both), 0.004);
  assert.equal(toleranceFor('cuda', both), 0.03);
  assert.equal(toleranceFor('cuda', { tolerance: 0.004 }), 0.004);
  assert.equal(toleranceFor('cpu', { cuda_tolerance: 0.03 }), tolerances.cpu);
  assert.equal(toleranceFor('cuda', {}), tolerances.cuda);
  assert.equal(toleranceFor('webgpu', both), 0.03);
  assert.equal(toleranceFor('webgpu', {}), tolerances.webgpu);
});

async function recorded(folder: string): Promise<string> {
  const { status, stderr } = await runModels(folder, 'record');
  assert.equal(status, 0, stderr);
  return folder;
}

test('a server whose model says something else than it is known to say is never ready, and says why', async (t) => {
  const folder = await recorded(importedModels(t));
  // The effect of a wrong recipe or a broken kernel on the score.
  editManifest(folder, ([waveform]) => {
    waveform.calibration.bias = 0.01;
  });
  const env = { VERAVOX_DATA_DIR: temporaryFolder(t), VERAVOX_MODELS_DIR: folder, PORT: '0' };
  const cli = new Cli(['serve'], env);
  t.after(() => cli.child.kill('SIGKILL'));
  const [, port] = await cli.printed(/running on http:\/\/127\.0\.0\.1:(\d+), but not ready/);
  assert.equal((await request(Number(port), '/livez')).status, 200);
  const stranger = await request(Number(port), '/readyz');
  assert.equal(stranger.status, 503);
  assert.deepEqual(stranger.json, { ready: false, state: 'wrong_answers' });
  const { stdout: key } = await runCli(['keys', 'create', '--scopes', 'admin'], env);
  const headers = { 'x-api-key': key.trim() };
  const isKnown = async () => 'wrong_answers' in (await request(Number(port), '/readyz', { headers })).json;
  await eventually(isKnown, 'The key is known');
  const { status, json } = await request(Number(port), '/readyz', { headers });
  assert.equal(status, 503);
  assert.equal(json.state, 'wrong_answers');
  assert.equal(json.wrong_answers.length, 1);
  const [{ model, file, expected, measured, tolerance, error }] = json.wrong_answers;
  assert.equal(model, 'random-waveform');
  assert.equal(file, 'known-answers/ai-and-human.flac');
  assert.equal(error, null);
  assert.equal(measured.length, expected.length);
  assert.ok(Math.abs(measured[0] - expected[0]) > tolerance);
  const { text } = await request(Number(port), '/metrics');
  assert.match(text, /^veravox_wrong_answers 1$/m);
  assert.match(text, /^veravox_ready 0$/m);
  const line = cli.stdout.split('\n').find((candidate) => candidate.includes('a known-answer check failed'));
  const logged = JSON.parse(line ?? '{}');
  assert.equal(logged.level, 'error');
  assert.equal(logged.modelId, model);
  assert.deepEqual(logged.measured, measured);
  assert.deepEqual(logged.expected, expected);
});

test('a clip that is gone makes doctor end with 1', async (t) => {
  const folder = await recorded(importedModels(t));
  fs.rmSync(path.join(folder, 'known-answers/human-lj-b.flac'));
  const env = { VERAVOX_DATA_DIR: temporaryFolder(t), VERAVOX_MODELS_DIR: folder };
  const { status, stdout } = await runCli(['doctor'], env);
  assert.equal(status, 1);
  assert.match(
    stdout,
    /^failed +known answers +random-waveform could not answer for known-answers\/human-lj-b\.flac/m,
  );
});

test('the answers of the shipped models hold here', async (t) => {
  const { status, stdout } = await runCli(['doctor'], { VERAVOX_DATA_DIR: temporaryFolder(t) });
  assert.equal(status, 0, stdout);
  const [, held, all, rest] = /^ok +known answers +(\d+) of (\d+) hold(.*)$/m.exec(stdout) ?? [];
  assert.equal(held, all);
  assert.ok(Number(all) > 0);
  assert.equal(rest, '', 'every shipped model has known answers');
});
