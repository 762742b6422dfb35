// SPDX-License-Identifier: Apache-2.0
import type { TestContext } from 'node:test';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import type { ScoringOwner } from '../../src/analysis/scoring/scoring-owner.js';
import { temporaryFolder } from './temporary-folder.js';
import { testConfig } from './test-server.js';
import { writeTinyModels } from './tiny-models.js';

/** Tiny models on WebGPU; the environment says with which driver. */
export async function startOnWebGpu(
  t: TestContext,
  device: 'auto' | 'webgpu',
  modelsDir = writeTinyModels(temporaryFolder(t), 'high'),
  wrap: (owner: ScoringOwner) => ScoringOwner = (owner) => owner,
) {
  const arena = new UploadArena(16 << 20);
  const onGpu = { prepareThreads: 1, maxBatchWindows: 2 };
  const adapter = { name: 'software', isSoftware: true };
  const analyser = await startPipeline({ ...testConfig, device, modelsDir, onGpu }, arena.buffer, {
    choice: { provider: 'webgpu', adapter },
    scoring: { startOwner: (device, start) => wrap(start(device)) },
  });
  return { analyser, arena };
}
