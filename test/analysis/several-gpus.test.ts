// SPDX-License-Identifier: Apache-2.0
//
// The pipeline on several GPUs, with CPU sessions in their place: everything except CUDA's computations.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import type { ScoringOwner } from '../../src/analysis/scoring/scoring-owner.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import type { BatchRecord } from '../../src/base/observe/device-metrics.js';
import { fileEntry, formBody } from '../support/form-body.js';
import { predict, request } from '../support/http-client.js';
import { modelsFolder } from '../support/models-folder.js';
import { scoresOf } from '../support/scores-of.js';
import { ADMIN_API_KEY, startServerWith, testConfig } from '../support/test-server.js';
import { until } from '../support/until.js';

const clips = await Promise.all(
  ['human-lj-a.flac', 'ai-wavenet-lj.flac'].map((name) =>
    readFile(path.join(packageDir, 'test/fixtures', name)),
  ),
);

/** A pipeline with this many GPUs, each replaced by a CPU thread. */
async function startOn(
  t: TestContext,
  gpus: number,
  wrap: (owner: ScoringOwner, name: string) => ScoringOwner = (owner) => owner,
) {
  const arena = new UploadArena(64 << 20);
  const records: BatchRecord[] = [];
  const analyser = await startPipeline(
    {
      ...testConfig,
      device: 'cuda',
      modelsDir: modelsFolder(t, ['apollo-4-5-2026-03-26']),
      onGpu: { prepareThreads: 2, maxBatchWindows: 4 },
    },
    arena.buffer,
    {
      choice: { provider: 'cuda', gpus: [...Array(gpus).keys()] },
      scoring: {
        startOwner: (device, start) => wrap(start({ ...device, provider: 'cpu' }), device.name),
        onBatch: (record) => records.push(record),
      },
    },
  );
  return { analyser, arena, records };
}

const scoresOfAll = (
  { analyser, arena }: Awaited<ReturnType<typeof startOn>>,
  files: readonly Uint8Array[],
) => Promise.all(files.map((file) => scoresOf(analyser, arena, file)));

test('results on three GPUs are those of one, and each of them has worked', async (t) => {
  const files = Array.from({ length: 12 }, (_, i) => clips[i % clips.length] as Uint8Array);
  const one = await startOn(t, 1);
  const expected = await scoresOfAll(one, files);
  await one.analyser.close();
  const three = await startOn(t, 3);
  assert.deepEqual(await scoresOfAll(three, files), expected);
  await three.analyser.close();
  const names = three.records.map(({ device }) => device);
  assert.deepEqual([...new Set(names)].sort(), ['cuda:0', 'cuda:1', 'cuda:2']);
  const inputs = (records: readonly BatchRecord[]) => records.reduce((sum, record) => sum + record.inputs, 0);
  assert.equal(inputs(three.records), inputs(one.records));
});

test('a GPU that fails in the middle of a batch costs no request; readyz and metrics name it', async (t) => {
  let isBroken = true;
  const { analyser, arena, records } = await startOn(t, 2, (owner, name) => {
    if (name !== 'cuda:1') return owner;
    return {
      warmUp: () => owner.warmUp(),
      async score(model, slots, sounds) {
        const result = await owner.score(model, slots, sounds);
        if (isBroken) throw new Error('CUDA error 700');
        return result;
      },
      restart: () => (isBroken ? Promise.reject(new Error('CUDA error 700')) : owner.restart()),
      close: () => owner.close(),
    };
  });
  const { port, metric } = await startServerWith(t, analyser, arena);
  const predictAll = () =>
    Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        const form = formBody([fileEntry(clips[i % clips.length] as Buffer)]);
        assert.equal((await predict(port, form)).status, 200);
      }),
    );
  await predictAll();
  assert.equal(records.filter(({ isFailed }) => isFailed).length, 1);
  const devices = async () => {
    const { status, json } = await request(port, '/readyz', { headers: { 'x-api-key': ADMIN_API_KEY } });
    return [status, json.devices];
  };
  const healthy = { device: 'cuda:0', working: true, problem: null };
  assert.deepEqual(await devices(), [
    200,
    [healthy, { device: 'cuda:1', working: false, problem: 'CUDA error 700' }],
  ]);
  assert.equal(await metric('veravox_device_up{device="cuda:0"}'), 1);
  assert.equal(await metric('veravox_device_up{device="cuda:1"}'), 0);
  assert.equal(await metric('veravox_inputs_waiting'), 0);

  isBroken = false;
  await until(() => analyser.status().scoring?.devices.every(({ isWorking }) => isWorking) ?? false);
  assert.deepEqual(await devices(), [200, [healthy, { device: 'cuda:1', working: true, problem: null }]]);
  const before = records.length;
  await predictAll();
  assert.ok(records.slice(before).some(({ device }) => device === 'cuda:1'));
});
