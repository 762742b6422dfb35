// SPDX-License-Identifier: Apache-2.0
//
// ONNX Runtime's WebGPU provider itself, behind a Vulkan driver that loses its device.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
import { fileEntry, formBody } from '../support/form-body.js';
import { predict, request } from '../support/http-client.js';
import { losableSoftwareGpu, setEnvironment } from '../support/software-gpu.js';
import { ADMIN_API_KEY, startServerWith } from '../support/test-server.js';
import { until } from '../support/until.js';
import { startOnWebGpu } from '../support/webgpu-pipeline.js';

const clip = await readFile(path.join(packageDir, 'test/fixtures/human-lj-a.flac'));

test('a lost GPU costs no request: the CPU takes over until the GPU is back', async (t) => {
  const { env, lose, giveBack } = losableSoftwareGpu(t);
  setEnvironment(t, env);
  let failedRestarts = 0;
  const { analyser, arena } = await startOnWebGpu(t, 'auto', undefined, (owner) => ({
    warmUp: () => owner.warmUp(),
    score: (...batch) => owner.score(...batch),
    restart: () =>
      owner.restart().catch((error) => {
        failedRestarts++;
        throw error;
      }),
    close: () => owner.close(),
  }));
  const { port, metric } = await startServerWith(t, analyser, arena);
  const predictOnce = async () => {
    const { status, json } = await predict(port, formBody([fileEntry(clip)]));
    assert.equal(status, 200, JSON.stringify(json));
  };
  const readiness = async () => {
    const headers = { 'x-api-key': ADMIN_API_KEY };
    const { status, json } = await request(port, '/readyz', { headers });
    return { status, provider: json.provider, devices: json.devices };
  };
  const works = { device: 'webgpu', working: true, problem: null };
  await predictOnce();
  assert.deepEqual(await readiness(), { status: 200, provider: 'webgpu', devices: [works] });

  lose();
  await predictOnce();
  assert.equal(await metric('veravox_device_up{device="webgpu"}'), 0);
  const { status, devices } = await readiness();
  assert.equal(status, 200);
  assert.match(devices[0].problem, /\blost\b/);
  assert.deepEqual(devices[1], { device: 'cpu', working: true, problem: null });

  // A failed restart must not keep the lost device.
  await until(() => failedRestarts > 0);
  giveBack();
  await until(() => analyser.status().scoring?.devices[0]?.isWorking ?? false);
  assert.equal(await metric('veravox_device_up{device="webgpu"}'), 1);
  await predictOnce();
});
