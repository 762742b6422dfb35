// SPDX-License-Identifier: Apache-2.0
//
// As a program: prints the answers of a folder's models for files as JSON, with every bit.
//
//   node answers-of-clips.js MODELS_DIR FILE...
import { readFile } from 'node:fs/promises';
import { answerOf } from '../../src/analysis/known-answers/known-answers.js';
import { readManifest } from '../../src/analysis/models/manifest.js';
import { type PipelineConfig, startPipeline } from '../../src/analysis/pipeline/pipeline.js';

export type Answers = Readonly<Record<string, readonly number[]>>;

export const oneByOne: Omit<PipelineConfig, 'modelsDir'> = {
  device: 'cpu',
  prepareThreads: 1,
  scoringThreads: 1,
  maxBatchWindows: 1,
  batchWaitMs: 0,
  queueTimeoutMs: 300_000,
  analysisTimeoutMs: 300_000,
};

/** `copies` answers for each model and file; all at once if `together`, else one after another. */
export async function answersOfClips(
  config: PipelineConfig,
  files: readonly string[],
  { copies = 1, together = false } = {},
): Promise<Answers[]> {
  const { models } = await readManifest(config.modelsDir);
  const analyser = await startPipeline(config, new SharedArrayBuffer(0));
  try {
    const clips = await Promise.all(files.map(async (file) => [file, await readFile(file)] as const));
    const rounds: Answers[] = [];
    const pending: Promise<unknown>[] = [];
    for (let copy = 0; copy < copies; copy++) {
      const answers: Record<string, readonly number[]> = {};
      rounds.push(answers);
      for (const model of models) {
        for (const [file, clip] of clips) {
          const answer = answerOf(analyser, model, clip).then((numbers) => {
            answers[`${model.id} ${file}`] = numbers;
          });
          pending.push(answer);
          if (!together) await answer;
        }
      }
    }
    await Promise.all(pending);
    return rounds;
  } finally {
    await analyser.close();
  }
}

const [program, modelsDir, ...files] = process.argv.slice(1);
if (import.meta.filename === program && modelsDir !== undefined) {
  const [answers] = await answersOfClips({ ...oneByOne, modelsDir }, files);
  process.stdout.write(JSON.stringify(answers));
}
