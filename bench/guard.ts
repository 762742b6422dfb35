// SPDX-License-Identifier: Apache-2.0
//
// What the guards of decoder threads cost: the filter of system calls, and the digest and note of each input. Analyses
// with and without them in turn, so that a noisy machine disturbs both alike.
//
//   npm run bench:guard
import fs from 'node:fs';
import path from 'node:path';
import { startPipeline } from '../src/analysis/pipeline/pipeline.js';
import { RefusedInputs } from '../src/analysis/prepare/refused-inputs.js';
import { packageDir } from '../src/base/config/package-dir.js';
import { describeMachine } from './machine.js';

const ROUNDS = 9;
const ANALYSES_PER_ROUND = 200;
const IN_FLIGHT = 2;

const config = {
  modelsDir: path.join(packageDir, 'models'),
  device: 'cpu',
  prepareThreads: 2,
  scoringThreads: 2,
  maxBatchWindows: 4,
  batchWaitMs: 0,
  queueTimeoutMs: 60_000,
  analysisTimeoutMs: 60_000,
} as const;

const file = fs.readFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.flac'));
const arena = new SharedArrayBuffer(file.length);
new Uint8Array(arena).set(file);

const unguarded = await startPipeline({ ...config, decoderSandbox: 'off' }, arena);
const guarded = await startPipeline({ ...config, decoderSandbox: 'required' }, arena, {
  refused: RefusedInputs.create(1024).shared,
});

async function roundMs(analyser: typeof guarded): Promise<number> {
  const beginMs = performance.now();
  let left = ANALYSES_PER_ROUND;
  const work = async (): Promise<void> => {
    while (left-- > 0) {
      await analyser.analyse({
        region: { offset: 0, length: file.length },
        model: 'apollo-4-2025-10-20',
        silenceThresholdPercent: 80,
        minDurationS: 1,
        maxDurationS: 600,
        signal: new AbortController().signal,
      });
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  return performance.now() - beginMs;
}

await roundMs(unguarded);
await roundMs(guarded);
const ratios: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const withoutMs = await roundMs(unguarded);
  ratios.push((await roundMs(guarded)) / withoutMs);
}
await Promise.all([unguarded.close(), guarded.close()]);
ratios.sort((a, b) => a - b);
const rounded = (value: number | undefined): number => Math.round((value ?? Number.NaN) * 1000) / 1000;
const result = {
  machine: describeMachine(),
  what: 'time with guards / time without, the fastest detector, 8.6 s of FLAC',
  rounds: ROUNDS,
  analysesPerRound: ANALYSES_PER_ROUND,
  ratio: {
    median: rounded(ratios[Math.floor(ROUNDS / 2)]),
    minimum: rounded(ratios[0]),
    maximum: rounded(ratios.at(-1)),
  },
};
fs.writeFileSync(
  path.join(packageDir, 'bench/results/guard.json'),
  `${JSON.stringify(result, undefined, 2)}\n`,
);
console.log(JSON.stringify(result, undefined, 2));
