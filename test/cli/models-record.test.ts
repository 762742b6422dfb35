// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { recordAnswers } from '../../src/analysis/known-answers/record.js';
import { loadManifest } from '../../src/analysis/models/model-file.js';
import { runModels } from '../support/cli.js';
import { type AnyEntry, editManifest, importedModels } from '../support/imported-models.js';
import { testConfig } from '../support/test-server.js';

const manifestIn = (folder: string) => fs.readFileSync(path.join(folder, 'manifest.json'), 'utf8');

test('an id that is not there, and a fault in the manifest, leave the manifest as it was', async (t) => {
  const folder = importedModels(t);
  const before = manifestIn(folder);
  const unknown = await runModels(folder, 'record', 'other');
  assert.equal(unknown.status, 1);
  assert.match(unknown.stderr, /there is no model with the id or alias other/);
  assert.equal(manifestIn(folder), before);

  editManifest(folder, (models) => {
    models[0].output.kind = 'loudness';
  });
  const edited = manifestIn(folder);
  const faulty = await runModels(folder, 'record');
  assert.equal(faulty.status, 1);
  assert.match(faulty.stderr, /random-waveform: models\[0\]\.output\.kind/);
  assert.equal(manifestIn(folder), edited);
});

test('what is recorded holds, and nothing else of the manifest changes', async (t) => {
  const folder = importedModels(t, (entries) => {
    delete entries['random-waveform'].sha256;
    entries['random-kaldi-speaker'].sha256 = '0'.repeat(64);
  });
  const { status, stdout, stderr } = await runModels(folder, 'record');
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^random-waveform: recorded the answers for 4 clips$/m);

  const text = manifestIn(folder);
  const manifest = JSON.parse(text);
  assert.equal(text, `${JSON.stringify(manifest, null, 2)}\n`);
  for (const { task, known_answers } of manifest.models) {
    assert.equal(known_answers.length, 4);
    for (const { scores, embedding } of known_answers) {
      assert.equal(task === 'speaker' ? embedding.length : embedding, task === 'speaker' ? 16 : undefined);
      assert.ok(task === 'speaker' ? scores === undefined : scores.length >= 2);
    }
  }
  const original = JSON.parse(fs.readFileSync('test/reference/imported-models/manifest.json', 'utf8'));
  for (const entry of manifest.models) delete entry.known_answers;
  assert.deepEqual(manifest, original);
  assert.deepEqual(
    fs.readdirSync(folder).filter((file) => file.includes('tmp')),
    [],
  );

  const check = await runModels(folder, 'check', '--runs', '1');
  assert.equal(check.status, 0, check.stdout);
  assert.equal(check.stdout.match(/ 4 of 4 +ok$/gm)?.length, 4, check.stdout);
});

test('one model can be recorded by itself, on clips of the operator, and keeps the tolerance it had', async (t) => {
  const folder = importedModels(t, (entries) => {
    entries['random-waveform'].known_answers = [
      { file: 'known-answers/own.flac', scores: [0], tolerance: 0.25 },
    ];
  });
  fs.mkdirSync(path.join(folder, 'known-answers'));
  fs.copyFileSync('test/fixtures/human-lj-b.flac', path.join(folder, 'known-answers/own.flac'));
  const { status, stderr } = await runModels(folder, 'record', 'random-waveform');
  assert.equal(status, 0, stderr);
  const [first, ...others] = JSON.parse(manifestIn(folder)).models;
  assert.equal(first.known_answers.length, 1);
  const [{ file, scores, tolerance }] = first.known_answers;
  assert.equal(file, 'known-answers/own.flac');
  // Two windows with two inputs each.
  assert.equal(scores.length, 4);
  assert.equal(tolerance, 0.25);
  for (const other of others) assert.equal(other.known_answers, undefined);
});

test('a tolerance that is given holds for every clip; one that is no number above 0 changes nothing', async (t) => {
  const folder = importedModels(t);
  const record = ['record', 'random-waveform', '--tolerance'];
  const before = manifestIn(folder);
  const refused = await runModels(folder, ...record, '0');
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /above 0 and below 1 but received 0/);
  assert.equal(manifestIn(folder), before);

  const { status, stderr } = await runModels(folder, ...record, '0.002', '--cuda-tolerance', '0.03');
  assert.equal(status, 0, stderr);
  const [{ known_answers }] = JSON.parse(manifestIn(folder)).models;
  assert.equal(known_answers.length, 4);
  for (const { tolerance, cuda_tolerance } of known_answers) {
    assert.deepEqual([tolerance, cuda_tolerance], [0.002, 0.03]);
  }
});

test('a twin for GPUs is recorded, too, on the CPU, and keeps its own tolerance', async (t) => {
  const folder = importedModels(t, ({ 'random-waveform': entry }) => {
    entry.gpu = { file: 'twin.onnx', sha256: '0'.repeat(64), source_sha256: entry.sha256 };
  });
  const file = path.join(folder, 'twin.onnx');
  fs.copyFileSync(path.join(folder, 'random-waveform.onnx'), file);
  const record = ['record', 'random-waveform', '--tolerance', '0.01', '--cuda-tolerance', '0.03'];
  const { status, stderr } = await runModels(folder, ...record);
  assert.equal(status, 0, stderr);
  const [{ sha256, known_answers, gpu }] = JSON.parse(manifestIn(folder)).models;
  assert.equal(gpu.sha256, sha256);
  assert.equal(gpu.known_answers.length, 4);
  for (const [i, { scores, tolerance, cuda_tolerance }] of gpu.known_answers.entries()) {
    assert.deepEqual(scores, known_answers[i].scores);
    assert.deepEqual([tolerance, cuda_tolerance], [undefined, 0.03]);
  }
  fs.appendFileSync(file, 'damage');
  await assert.rejects(loadManifest(folder), /twin\.onnx: expected the SHA-256/);
});

test('entries that another command adds or changes meanwhile stay', async (t) => {
  const modelsDir = importedModels(t);
  const recordWhile = (edit: (models: AnyEntry[]) => void) =>
    recordAnswers({ ...testConfig, modelsDir }, ['random-waveform'], {}, (entry) => {
      editManifest(modelsDir, edit);
      return entry;
    });
  const [recorded, ...others] = await recordWhile((models) => {
    models[1].licence = 'changed';
    models.push({ ...models[0], id: 'imported' });
  });
  assert.deepEqual([recorded?.id, recorded?.known_answers?.length, others], ['random-waveform', 4, []]);
  const { models } = JSON.parse(manifestIn(modelsDir));
  assert.equal(models[0].known_answers.length, 4);
  assert.deepEqual([models[1].licence, models.at(-1).id], ['changed', 'imported']);

  const toOurs = recordWhile(([first]) => {
    first.licence = 'changed';
  });
  await assert.rejects(toOurs, /random-waveform changed while it was recorded/);
  assert.equal(JSON.parse(manifestIn(modelsDir)).models[0].licence, 'changed');
});
