// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import pc from 'picocolors';
import { loadConfig } from '../config/load-config.js';
import type { Analyser } from '../pipeline/analysis.js';
import { startPipeline } from '../pipeline/pipeline.js';
import { defaultModel } from '../routes/predict-fields.js';
import { predictionBody } from '../verdict/prediction.js';
import { maxDurationS, readInto, reportFailure, sizeOf, withoutTimeouts } from './local-files.js';
import { predictionTable } from './prediction-table.js';
import { ProgressLine } from './progress-line.js';

interface PredictOptions {
  readonly json?: true;
  readonly model?: string;
  readonly threshold: number;
  readonly silenceThreshold: number;
}

const minDurationS = 1;

export function addPredictCommand(program: Command): void {
  program
    .command('predict <file...>')
    .description('Analyse files without a server, with the same pipeline.')
    .option('--json', 'print what the server would answer, one line per file')
    .option('--model <id>', 'which model to use (default: the best that is loaded)')
    .option(
      '--threshold <number>',
      'score from which a voice counts as AI-generated, 0 to 1',
      within(0, 1),
      0.5,
    )
    .option(
      '--silence-threshold <percent>',
      'windows with more non-speech than this are not analysed, 0 to 100',
      within(0, 100),
      80,
    )
    .action(predict);
}

async function predict(files: string[], options: PredictOptions): Promise<void> {
  const sizes = await Promise.all(files.map(sizeOf));
  const largest = Math.max(1, ...sizes.filter((size) => typeof size === 'number'));
  const arena = new SharedArrayBuffer(largest);
  const config = { ...loadConfig(process.env), ...withoutTimeouts };
  const analyser = await startPipeline(config, arena);
  try {
    for (const [index, file] of files.entries()) {
      try {
        const size = sizes[index];
        if (typeof size !== 'number') throw size;
        await predictFile(file, arena, analyser, options);
      } catch (error) {
        reportFailure(file, error, options.json);
        process.exitCode = 1;
      }
    }
  } finally {
    await analyser.close();
  }
}

async function predictFile(
  file: string,
  arena: SharedArrayBuffer,
  analyser: Analyser,
  options: PredictOptions,
): Promise<void> {
  const startedMs = performance.now();
  const length = await readInto(arena, file);
  const progress = new ProgressLine(process.stderr, file);
  const analysis = await analyser
    .analyse({
      region: { offset: 0, length },
      modelId: options.model ?? defaultModel(analyser.status().models),
      silenceThresholdPercent: options.silenceThreshold,
      minDurationS,
      maxDurationS,
      signal: new AbortController().signal,
      onProgress: (current) => progress.show(current),
    })
    .finally(() => progress.clear());
  const request = {
    predictionId: `pred_${randomUUID().slice(-12)}`,
    threshold: options.threshold,
    silenceThresholdPercent: options.silenceThreshold,
  };
  const prediction = predictionBody(analysis, request, (performance.now() - startedMs) / 1000);
  process.stdout.write(
    options.json ? `${JSON.stringify(prediction)}\n` : predictionTable(file, prediction, pc),
  );
}

function within(minimum: number, maximum: number): (given: string) => number {
  return (given) => {
    const value = given.trim() === '' ? Number.NaN : Number(given);
    if (value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`Expected a number ${minimum} to ${maximum} but received ${given}.`);
  };
}
