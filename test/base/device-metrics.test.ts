// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { DeviceMetrics } from '../../src/base/observe/device-metrics.js';

test('each device has its batches, inputs, busy time and failures, from the start and at zero', async () => {
  const registry = new Registry();
  const metrics = new DeviceMetrics(registry);
  const states = [
    { name: 'cuda:0', isWorking: true },
    { name: 'cuda:1', isWorking: true },
  ];
  metrics.declare({ devices: () => states, inputsWaiting: () => 7 });
  const value = async (series: string): Promise<number> => {
    const line = (await registry.metrics()).split('\n').find((text) => text.startsWith(`${series} `));
    return Number(line?.slice(series.length + 1));
  };
  const names = ['batch_inputs_count', 'batch_inputs_sum', 'busy_seconds_total', 'failures_total'];
  for (const name of names) assert.equal(await value(`veravox_device_${name}{device="cuda:1"}`), 0, name);
  metrics.count({ device: 'cuda:1', inputs: 3, durationMs: 250, isFailed: false });
  metrics.count({ device: 'cuda:1', inputs: 16, durationMs: 750, isFailed: true });
  states[0] = { name: 'cuda:0', isWorking: false };
  const found = await Promise.all(names.map((name) => value(`veravox_device_${name}{device="cuda:1"}`)));
  assert.deepEqual(found, [2, 19, 1, 1]);
  assert.equal(await value('veravox_device_batch_inputs_bucket{le="4",device="cuda:1"}'), 1);
  assert.equal(await value('veravox_device_batch_inputs_count{device="cuda:0"}'), 0);
  assert.equal(await value('veravox_device_up{device="cuda:0"}'), 0);
  assert.equal(await value('veravox_device_up{device="cuda:1"}'), 1);
  assert.equal(await value('veravox_inputs_waiting'), 7);
});
