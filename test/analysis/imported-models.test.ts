// SPDX-License-Identifier: Apache-2.0
//
// Models given only as a manifest and ONNX files, through the whole server. test/reference/imported_models.py made them, and
// computed their answers with NumPy and Python's onnxruntime.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fingerprintOf } from '../../src/analysis/models/fingerprint.js';
import type { SpeakerModel } from '../../src/analysis/models/manifest.js';
import { loadManifest } from '../../src/analysis/models/model-file.js';
import { VoiceprintSpace } from '../../src/analysis/voiceid/voiceprint-space.js';
import { loadAddon } from '../../src/base/addon/addon.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { fileEntry, formBody } from '../support/form-body.js';
import { predict } from '../support/http-client.js';
import { startPipelineServer } from '../support/pipeline-server.js';
import { audioEntry, enroll } from '../support/voiceid-client.js';
import { monoWav } from '../support/wav.js';

const modelsDir = path.join(packageDir, 'test/reference/imported-models');
const tolerance = 1e-3;

interface Expected {
  readonly clips: readonly string[];
  readonly starts_s: readonly number[];
  readonly scores: Readonly<Record<string, readonly (readonly number[])[]>>;
  readonly embeddings: Readonly<Record<string, readonly number[]>>;
}
const expected = JSON.parse(fs.readFileSync(path.join(modelsDir, 'expected.json'), 'utf8')) as Expected;

/** The fixtures one after another, sample by sample as encoded. */
function speechWav(): Uint8Array {
  const { decode } = loadAddon();
  const parts = expected.clips.map(
    (name) => decode(fs.readFileSync(path.join('test/fixtures', name))).samples,
  );
  const samples = Float32Array.from(parts.flatMap((part) => [...part]));
  return monoWav(
    samples.map((sample) => (sample * 32768) / 32767),
    16000,
  );
}

function assertClose(measured: readonly number[], wanted: readonly number[], what: string): void {
  assert.equal(measured.length, wanted.length, what);
  measured.forEach((value, i) => {
    const difference = Math.abs(value - (wanted[i] as number));
    assert.ok(difference <= tolerance, `${what}[${i}] is ${value} instead of ${wanted[i]}`);
  });
}

test('detectors on samples and on spectrograms give the numbers that NumPy and onnxruntime give, one per input', async (t) => {
  const { port } = await startPipelineServer(t, { modelsDir });
  const file = fileEntry(speechWav());
  for (const [model, windows] of Object.entries(expected.scores)) {
    const { status, json } = await predict(port, formBody([{ name: 'model', content: model }, file]));
    assert.equal(status, 200, JSON.stringify(json));
    const { segments } = json as { segments: { start: number; scores: number[] }[] };
    assert.deepEqual(
      segments.map(({ start }) => start),
      expected.starts_s,
    );
    segments.forEach(({ scores }, i) => {
      assertClose(scores, windows[i] as readonly number[], `${model}, window ${i}`);
    });
  }
});

test('a speaker model on Kaldi filter banks gives the voiceprint that NumPy and onnxruntime give', async (t) => {
  const { port } = await startPipelineServer(t, { modelsDir, enrollAuthenticity: 'skip' });
  const { models } = await loadManifest(modelsDir);
  for (const [id, embedding] of Object.entries(expected.embeddings)) {
    const model = models.find((candidate) => candidate.id === id) as SpeakerModel;
    const { status, json } = await enroll(port, [audioEntry(speechWav())]);
    assert.equal(status, 200, JSON.stringify(json));
    assert.equal(json.model_version, id);
    const voiceprint = new VoiceprintSpace(fingerprintOf(model)).voiceprintOf(Float32Array.from(embedding));
    assertClose(json.embedding as number[], [...voiceprint], id);
  }
});
