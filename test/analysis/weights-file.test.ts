// SPDX-License-Identifier: Apache-2.0
//
// Models with their weights in a file beside the graph, as required beyond 2 GB.
import '../../src/analysis/scoring/telemetry-off.js';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { DetectionModel } from '../../src/analysis/models/manifest.js';
import { readModelFile } from '../../src/analysis/models/model-file.js';
import { scoreFingerprintOf } from '../../src/analysis/models/score-fingerprint.js';
import { ModelSession } from '../../src/analysis/scoring/model-session.js';
import { runModels, temporaryFolder } from '../support/cli.js';
import { fileEntry, formBody } from '../support/form-body.js';
import { predict } from '../support/http-client.js';
import { meanModel } from '../support/onnx-file.js';
import { startPipelineServer } from '../support/pipeline-server.js';
import { writeManifest } from '../support/tiny-models.js';
import { entryWithWeights, scoreOf, sha256 } from '../support/weights-file.js';

function folderWith(t: TestContext, weight: number) {
  const folder = temporaryFolder(t);
  const entry = entryWithWeights(folder, 'outside', weight);
  writeManifest(folder, [entry]);
  return { folder, entry, model: entry as unknown as DetectionModel };
}

async function scoreIn(model: DetectionModel, folder: string): Promise<number> {
  const { source } = await readModelFile(folder, model);
  const session = await ModelSession.load(source, model, { provider: 'cpu' }, 1);
  try {
    const [score] = await session.score([new Float32Array(session.inputSize)]);
    return score as number;
  } finally {
    await session.release();
  }
}

test('weights with another SHA-256, and weights that the entry does not name, are refused', async (t) => {
  const { folder, model } = folderWith(t, 1);
  fs.writeFileSync(path.join(folder, 'outside.onnx.data'), Buffer.from(Float32Array.of(2).buffer));
  await assert.rejects(
    readModelFile(folder, model),
    /outside\.onnx\.data: expected the SHA-256 [0-9a-f]{64} of/,
  );
  const { weights_file: _, ...nameless } = model;
  await assert.rejects(readModelFile(folder, nameless), /does not vouch for it/);
  fs.rmSync(path.join(folder, 'outside.onnx.data'));
  await assert.rejects(readModelFile(folder, model), /ENOENT.*outside\.onnx\.data/);
});

test('an entry that names weights for a file with its own, and weights elsewhere, are refused', async (t) => {
  const { folder, model } = folderWith(t, 1);
  const own = meanModel([1, 80_000], 1);
  fs.writeFileSync(path.join(folder, 'outside.onnx'), own);
  await assert.rejects(readModelFile(folder, { ...model, sha256: sha256(own) }), /holds its own weights/);
  for (const elsewhere of ['../secret', '/etc/hostname', 'a/b']) {
    const graph = meanModel([1, 80_000], 1, [], { weightFile: elsewhere });
    fs.writeFileSync(path.join(folder, 'outside.onnx'), graph);
    const entry = { ...model, sha256: sha256(graph), weights_file: elsewhere };
    await assert.rejects(readModelFile(folder, entry), /expected all weights in one file beside it/);
  }
});

test('files that change between the check and the session are refused', async (t) => {
  const { folder, model } = folderWith(t, 1);
  const { source } = await readModelFile(folder, model);
  // Same size and time as before: only the inode differs.
  const file = path.join(folder, 'outside.onnx.data');
  const { atime, mtime } = fs.statSync(file);
  fs.writeFileSync(`${file}.new`, Buffer.from(Float32Array.of(-1).buffer));
  fs.utimesSync(`${file}.new`, atime, mtime);
  fs.renameSync(`${file}.new`, file);
  await assert.rejects(
    ModelSession.load(source, model, { provider: 'cpu' }, 1),
    /was changed after its SHA-256 had been checked/,
  );
});

test('the weights decide the score and the fingerprint, their name does not', async (t) => {
  const { folder, model } = folderWith(t, 2);
  assert.ok(Math.abs((await scoreIn(model, folder)) - scoreOf(2)) < 1e-6);
  const other = folderWith(t, -2);
  assert.ok(Math.abs((await scoreIn(other.model, other.folder)) - scoreOf(-2)) < 1e-6);
  assert.equal(model.sha256, other.model.sha256);
  assert.notEqual(scoreFingerprintOf(model), scoreFingerprintOf(other.model));
  assert.equal(scoreFingerprintOf(model), scoreFingerprintOf({ ...model, weights_file: 'elsewhere.bin' }));
});

test('record writes name and SHA-256 of the weights; check then passes and knows both sizes', async (t) => {
  const { folder, entry } = folderWith(t, 1.5);
  const { weights_file, weights_sha256, ...bare } = entry;
  writeManifest(folder, [bare]);
  const recorded = await runModels(folder, 'record');
  assert.equal(recorded.status, 0, recorded.stderr);
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, 'manifest.json'), 'utf8'));
  assert.equal(manifest.models[0].weights_file, weights_file);
  assert.equal(manifest.models[0].weights_sha256, weights_sha256);
  assert.equal(manifest.models[0].known_answers.length, 4);
  const checked = await runModels(folder, 'check', '--runs', '1');
  assert.equal(checked.status, 0, checked.stdout);
  assert.match(checked.stdout, /^outside .* 4 of 4 +ok$/m);
});

test('a server answers with such a model', async (t) => {
  const { folder } = folderWith(t, 2);
  const { port } = await startPipelineServer(t, { modelsDir: folder });
  const { status, json } = await predict(
    port,
    formBody([
      { name: 'model', content: 'outside' },
      fileEntry(fs.readFileSync('test/fixtures/human-lj-a.flac')),
    ]),
  );
  assert.equal(status, 200, JSON.stringify(json));
  const { segments } = json as { segments: { scores: number[] }[] };
  for (const score of segments.flatMap(({ scores }) => scores)) {
    assert.ok(Math.abs(score - scoreOf(2)) < 1e-3, String(score));
  }
});
