// SPDX-License-Identifier: Apache-2.0
//
// Distances of the models' answers from those in their manifest: as they are, and with small mistakes in their recipes. The
// basis of the tolerances in src/analysis/known-answers/known-answers.ts.
//
//   npm run bench known-answers                            on this processor
//   npm run bench known-answers -- --models-dir FOLDER     of training/export/round_to_tf32.py, say
//   qemu-x86_64 -cpu Haswell $(which node) build/test/bench/known-answers.js --as-they-are
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkAnswers, differenceOf } from '../src/analysis/known-answers/known-answers.js';
import { type Model, readManifest } from '../src/analysis/models/manifest.js';
import { startPipeline } from '../src/analysis/pipeline/pipeline.js';
import { packageDir } from '../src/base/config/package-dir.js';

const { values } = parseArgs({
  options: {
    'models-dir': { type: 'string', default: join(packageDir, 'models') },
    'as-they-are': { type: 'boolean', default: false },
  },
});
const modelsDir = values['models-dir'];

const mistakes: Readonly<Record<string, unknown>> = {
  periodic_window: true,
  window: 'hamming',
  pre_emphasis: 0.1,
  log_floor: 1e-8,
  remove_dc_offset: true,
};

async function largestDifferences(models: readonly Model[]) {
  const config = {
    modelsDir,
    device: 'cpu',
    prepareThreads: 1,
    scoringThreads: 1,
    maxBatchWindows: 1,
    batchWaitMs: 0,
    // Long enough for an emulated processor.
    queueTimeoutMs: 3_600_000,
    analysisTimeoutMs: 3_600_000,
  } as const;
  const analyser = await startPipeline(config, new SharedArrayBuffer(0), { models });
  try {
    const checks = await checkAnswers(analyser, modelsDir, models);
    const largest = (task: Model['task']): string => {
      const ids = models.filter((model) => model.task === task).map((model) => model.id);
      const own = checks.filter(({ modelId }) => ids.includes(modelId));
      return Math.max(...own.map(differenceOf)).toPrecision(2);
    };
    return { scores: largest('detection'), embedding: largest('speaker') };
  } finally {
    await analyser.close();
  }
}

const { models } = await readManifest(modelsDir);
const rows: Record<string, { scores: string; embedding: string }> = {};
rows['as they are'] = await largestDifferences(models);
for (const [field, value] of values['as-they-are'] ? [] : Object.entries(mistakes)) {
  const mistaken = models.map((model) => ({ ...model, features: { ...model.features, [field]: value } }));
  rows[`${field} ${value}`] = await largestDifferences(mistaken as Model[]);
}
console.table(rows);
