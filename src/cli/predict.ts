// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import pc from 'picocolors';
import { loadConfig } from '../config/load-config.js';
import { ServiceError } from '../errors/service-error.js';
import type { Analyser } from '../pipeline/analysis.js';
import { startPipeline } from '../pipeline/pipeline.js';
import { defaultModel } from '../routes/predict-fields.js';
import { predictionBody } from '../verdict/prediction.js';
import { predictionTable } from './prediction-table.js';
import { ProgressLine } from './progress-line.js';

interface PredictOptions {
  readonly json?: true;
  readonly model?: string;
  readonly threshold: number;
  readonly silenceThreshold: number;
}

const minDurationS = 1;
// The server's limits protect it from its clients; here the caller can wait as long as they like.
const maxDurationS = 7 * 86_400;
const noTimeoutMs = 2 ** 31 - 1;

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
  const config = { ...loadConfig(process.env), queueTimeoutMs: noTimeoutMs, analysisTimeoutMs: noTimeoutMs };
  const analyser = await startPipeline(config, arena);
  try {
    for (const [index, file] of files.entries()) {
      try {
        const size = sizes[index];
        if (typeof size !== 'number') throw size;
        await predictFile(file, arena, analyser, options);
      } catch (error) {
        report(file, error, options);
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

function report(file: string, error: unknown, options: PredictOptions): void {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${file}: ${message}\n`);
  if (!options.json) return;
  // Keeps one line per file, in the contract's shape.
  const { code, status } = error instanceof ServiceError ? error : { code: 'validation_error', status: 400 };
  const body = { error: code, message, status, correlation_id: randomUUID() };
  process.stdout.write(`${JSON.stringify(body)}\n`);
}

/** Size in bytes, or why there is none: one unreadable file does not keep the others from being analysed. */
async function sizeOf(file: string): Promise<number | Error> {
  try {
    const status = await stat(file);
    return status.isFile() ? status.size : new Error('This is not a file.');
  } catch (error) {
    return error as Error;
  }
}

async function readInto(arena: SharedArrayBuffer, file: string): Promise<number> {
  const handle = await open(file);
  try {
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(new Uint8Array(arena, length));
      if (bytesRead === 0) return length;
      length += bytesRead;
    }
  } finally {
    await handle.close();
  }
}

function within(minimum: number, maximum: number): (given: string) => number {
  return (given) => {
    const value = given.trim() === '' ? Number.NaN : Number(given);
    if (value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`Expected a number ${minimum} to ${maximum} but received ${given}.`);
  };
}
