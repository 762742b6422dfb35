// SPDX-License-Identifier: Apache-2.0
//
// With a shipped detector and real audio, the route makes the profile that the command makes, and it works.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { runCli } from '../../support/cli.js';
import { type FormEntry, fileEntry, formBody } from '../../support/form-body.js';
import { postForm } from '../../support/http-client.js';
import { shippedModelsDir } from '../../support/speaker-models.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { testConfig } from '../../support/test-server.js';
import { startWholeServer } from '../../support/whole-server.js';

const model = 'detector-small-2026-11-25';

test('the route makes the same profile as the command, and its detector follows it', async (t) => {
  const folder = temporaryFolder(t);
  // A voice that the detector flags, in the part of people who are.
  const cuts = Array.from({ length: 11 }, (_, i) => {
    const cut = path.join(folder, `${i}.wav`);
    const part = ['-ss', String(0.3 * i), '-t', '3'];
    const input = ['-i', 'test/fixtures/ai-kokoro.flac'];
    execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...part, ...input, cut]);
    return cut;
  });
  const later = cuts.pop() ?? '';
  const env = { VERAVOX_DATA_DIR: path.join(folder, 'data') };
  const made = await runCli(['profiles', 'make', 'studio', ...cuts, '--model', model], env);
  assert.equal(made.status, 0, made.stderr);
  const byCommand = JSON.parse((await runCli(['profiles', 'show', 'studio'], env)).stdout);

  const dataDir = path.join(folder, 'server');
  const server = await startWholeServer({ ...testConfig, modelsDir: shippedModelsDir, dataDir });
  t.after(() => server.stop());
  const fields = (more: Readonly<Record<string, string>>): FormEntry[] =>
    Object.entries({ model, ...more }).map(([name, content]) => ({ name, content }));
  const files = cuts.map((cut) => fileEntry(readFileSync(cut)));
  const { status, json } = await postForm(
    server.port,
    '/v1/profiles',
    formBody([...fields({ name: 'studio' }), ...files]),
  );
  assert.equal(status, 201, JSON.stringify(json));
  for (const part of ['correction', 'measured', 'recordings', 'model'] as const)
    assert.deepEqual(json[part], byCommand[part], part);
  const scoreOf = async (more: Readonly<Record<string, string>>): Promise<number> => {
    const body = formBody([...fields(more), fileEntry(readFileSync(later))]);
    const predicted = await postForm(server.port, '/v1/predict', body);
    assert.equal(predicted.status, 200, predicted.text);
    return predicted.json.global.score;
  };
  assert.ok((await scoreOf({ profile: 'studio' })) < (await scoreOf({})) - 0.1);
});
