// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import pc from 'picocolors';
import { loadConfig } from '../config/load-config.js';
import { OperatingPoints } from '../operating-points/operating-points.js';
import type { Analyser } from '../pipeline/analysis.js';
import { detectorNamed } from '../pipeline/model-status.js';
import { startPipeline } from '../pipeline/pipeline.js';
import {
  DEFAULT_SILENCE_THRESHOLD_PERCENT,
  DEFAULT_THRESHOLD,
  defaultModel,
  MIN_DURATION_S,
} from '../routes/predict-fields.js';
import { predictionBody } from '../verdict/prediction.js';
import { parseThreshold, silenceHelp, thresholdHelp, within } from './arguments.js';
import { maxDurationS, readInto, reportFailure, sizeOf, withoutTimeouts } from './local-files.js';
import { predictionTable } from './prediction-table.js';
import { ProgressLine } from './progress-line.js';

interface PredictOptions {
  readonly json?: true;
  readonly model?: string;
  readonly threshold: number | string;
  readonly silenceThreshold: number;
}

/** With the model that is meant and the threshold as a number. */
interface ResolvedOptions extends PredictOptions {
  readonly model: string;
  readonly threshold: number;
}

export function addPredictCommand(program: Command): void {
  program
    .command('predict <file...>')
    .description('Analyse files without a server, with the same pipeline.')
    .option('--json', 'print what the server would answer, one line per file')
    .option('--model <id>', 'which model to use (default: the best that is loaded)')
    .option('--threshold <number or name>', thresholdHelp, parseThreshold, DEFAULT_THRESHOLD)
    .option('--silence-threshold <percent>', silenceHelp, within(0, 100), DEFAULT_SILENCE_THRESHOLD_PERCENT)
    .action(predict);
}

async function predict(files: string[], options: PredictOptions): Promise<void> {
  const sizes = await Promise.all(files.map(sizeOf));
  const largest = Math.max(1, ...sizes.filter((size) => typeof size === 'number'));
  const arena = new SharedArrayBuffer(largest);
  const config = { ...loadConfig(process.env), ...withoutTimeouts };
  const points = OperatingPoints.load(config.dataDir);
  const analyser = await startPipeline(config, arena);
  try {
    const status = analyser.status();
    const detector = detectorNamed(status, options.model ?? defaultModel(status.models));
    const threshold = points.thresholdOf(options.threshold, detector, '--threshold');
    for (const [index, file] of files.entries()) {
      try {
        const size = sizes[index];
        if (typeof size !== 'number') throw size;
        await predictFile(file, arena, analyser, {
          ...options,
          threshold,
          model: options.model ?? detector.id,
        });
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
  options: ResolvedOptions,
): Promise<void> {
  const startedMs = performance.now();
  const length = await readInto(new Uint8Array(arena), file);
  const progress = new ProgressLine(process.stderr, file);
  const analysis = await analyser
    .analyse({
      region: { offset: 0, length },
      modelId: options.model,
      silenceThresholdPercent: options.silenceThreshold,
      minDurationS: MIN_DURATION_S,
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
