// SPDX-License-Identifier: Apache-2.0
//
// Runs one model session in a loop for a while, alone: the ceiling for the server. Same session options and
// input as in the server's scoring threads.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { InputSlots, type SharedInputSlots } from '../../src/analysis/memory/input-slots.js';
import type { Model } from '../../src/analysis/models/manifest.js';
import { ModelSession } from '../../src/analysis/scoring/model-session.js';

export interface BareOnnxData {
  readonly modelsDir: string;
  readonly model: Model;
  /** Slot 0 holds a prepared input. */
  readonly slots: SharedInputSlots;
}

const { modelsDir, model, slots } = workerData as BareOnnxData;
const session = await ModelSession.load(
  readFileSync(join(modelsDir, model.file)),
  model,
  { provider: 'cpu' },
  1,
);
await session.warmUp();
const input = new InputSlots(slots).view(0, session.inputSize);

parentPort?.on('message', async (durationMs: number) => {
  const beginMs = performance.now();
  let windows = 0;
  while (performance.now() - beginMs < durationMs) {
    await session.score([input]);
    windows++;
  }
  parentPort?.postMessage(windows / ((performance.now() - beginMs) / 1000));
});
parentPort?.postMessage('ready');
