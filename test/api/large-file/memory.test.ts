// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { Cli, runCli, temporaryFolder } from '../../support/cli.js';
import { fileEntry, formBody } from '../../support/form-body.js';
import { postForm } from '../../support/http-client.js';
import { modelsFolder } from '../../support/models-folder.js';

const DURATION_S = 20 * 60;
const ALLOWED_BESIDE_UPLOAD_MIB = 150;

function memoryMiB(pid: number, what: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
}

// bench/large-file.ts does the same with 100 MiB and hours.
test('20 minutes of audio need the memory of their upload and little more', async (t) => {
  const speech = path.join(packageDir, 'test/fixtures/human-lj-a.flac');
  const options = ['-stream_loop', '-1', '-i', speech, '-t', String(DURATION_S), '-b:a', '40k', '-f', 'mp3'];
  const file = execFileSync('ffmpeg', ['-v', 'error', ...options, '-'], { maxBuffer: 64 << 20 });
  const env = {
    PORT: '0',
    VERAVOX_DATA_DIR: temporaryFolder(t),
    VERAVOX_MODELS_DIR: modelsFolder(t, ['apollo-4-5-2026-03-26', 'apollo-4-2025-10-20']),
  };
  const key = (await runCli(['keys', 'create'], env)).stdout.trim();
  const server = new Cli(['serve'], env);
  t.after(async () => {
    server.child.kill('SIGTERM');
    await server.finished;
  });
  const [, port] = await server.printed(/"port":(\d+),"msg":"listening"/);
  const pid = server.child.pid ?? assert.fail();
  const idleMiB = memoryMiB(pid, 'VmRSS');

  const body = formBody([fileEntry(file)]);
  const { status, json } = await postForm(Number(port), '/v1/predict/large-file', body, {
    headers: { 'x-api-key': key },
  });
  const peakMiB = memoryMiB(pid, 'VmHWM');
  assert.equal(status, 200);
  assert.ok(Math.abs(json.audio_duration - DURATION_S) < 1);
  assert.equal(json.segments.length, DURATION_S / 5);
  const uploadMiB = body.length / 2 ** 20;
  t.diagnostic(
    `${uploadMiB.toFixed(0)} MiB of upload, ${(peakMiB - idleMiB).toFixed(0)} MiB above idle at the peak`,
  );
  assert.ok(peakMiB - idleMiB <= uploadMiB + ALLOWED_BESIDE_UPLOAD_MIB);
});
