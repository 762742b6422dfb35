// SPDX-License-Identifier: Apache-2.0
//
// The speaker model that ships, over HTTP, on two speakers unknown to its training. bench/voiceid.ts measures its errors on
// many; here it must tell these apart.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { UploadArena } from '../../../src/analysis/memory/arena.js';
import { loadManifest } from '../../../src/analysis/models/model-file.js';
import { startPipeline } from '../../../src/analysis/pipeline/pipeline.js';
import { loadAddon } from '../../../src/base/addon/addon.js';
import { loadConfig } from '../../../src/base/config/load-config.js';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { temporaryFolder } from '../../support/cli.js';
import { writeModels } from '../../support/speaker-models.js';
import { startServerWith, testConfig } from '../../support/test-server.js';
import { audioEntry, enroll, vectorEntry, verify } from '../../support/voiceid-client.js';
import { monoWav } from '../../support/wav.js';

const fixture = (name: string) => readFile(path.join(packageDir, 'test/fixtures', name));
// Whether the detector takes a fixture for human is not tested here.
const humanBias = -30;

/** Two files one after another. */
async function joined(first: string, second: string): Promise<Uint8Array> {
  const a = loadAddon().decode(await fixture(first));
  const b = loadAddon().decode(await fixture(second));
  assert.equal(a.sampleRateHz, b.sampleRateHz);
  const both = new Float32Array(a.samples.length + b.samples.length);
  both.set(a.samples);
  both.set(b.samples, a.samples.length);
  return monoWav(both, a.sampleRateHz);
}

test('the speaker model that ships tells two unseen speakers apart', async (t) => {
  const { modelsDir } = loadConfig(process.env);
  const entry = (await loadManifest(modelsDir)).models.find((model) => model.task === 'speaker');
  assert.ok(entry, 'a speaker model ships');
  const file = await readFile(path.join(modelsDir, entry.file));
  const folder = writeModels(temporaryFolder(t), [{ entry, file }], humanBias);
  const arena = new UploadArena(testConfig.maxInflightBytes);
  const analyser = await startPipeline({ ...testConfig, modelsDir: folder, scoringThreads: 2 }, arena.buffer);
  const { port } = await startServerWith(t, analyser, arena);

  const enrolments = {
    p225: await joined('human-vctk-p225-a.opus', 'human-vctk-p225-b.opus'),
    p226: await fixture('human-vctk-p226-a.opus'),
  };
  const samples = {
    p225: await fixture('human-vctk-p225-c.opus'),
    p226: await fixture('human-vctk-p226-b.opus'),
    'LJ Speech': await fixture('human-lj-b.flac'),
  };
  for (const [enrolled, recording] of Object.entries(enrolments)) {
    const answer = await enroll(port, [audioEntry(recording)]);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.json.model_version, entry.id);
    for (const [tested, sample] of Object.entries(samples)) {
      const { json } = await verify(port, [audioEntry(sample), vectorEntry(answer.json.embedding)]);
      const what = `${tested} against ${enrolled}: ${json.similarity_score}`;
      assert.equal(json.is_match, tested === enrolled, what);
    }
    const recording225 = await fixture('human-vctk-p225-a.opus');
    const cut = await verify(port, [
      audioEntry(recording225.subarray(0, recording225.length * 0.9)),
      vectorEntry(answer.json.embedding),
    ]);
    assert.match(String(cut.headers['x-warnings']), /^\["The end is missing: /);
  }
});
