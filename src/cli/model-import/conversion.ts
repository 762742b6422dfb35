// SPDX-License-Identifier: Apache-2.0
//
// The Python program that reads a checkpoint and writes an ONNX file: training/imported.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageDir } from '../../base/config/package-dir.js';

export interface ConversionOptions {
  /** The program that runs Python. */
  readonly python: string;
  readonly family: string;
  readonly checkpoint: string;
  /** Of the files, without their endings. */
  readonly name: string;
  readonly precision: 'float32' | 'float16';
  readonly heads?: number;
  readonly dilation?: number;
}

/** Python's report about the model that it wrote. */
export interface ConversionReport {
  readonly window_samples: number;
  readonly spoof_index: number;
  /** Whether the graph normalises the samples. */
  readonly normalises: boolean;
  readonly parameters: number;
  /** PyTorch's answers to the inputs in `inputs.f32`. */
  readonly logits: readonly (readonly number[])[];
}

const exitCodes = { unusableCheckpoint: 3, missingPackages: 4 } as const;
const trainingDir = join(packageDir, 'training');
const MAX_STDERR_CHARACTERS = 100_000;

/**
 * Converts a checkpoint into files in `folder`.
 * @throws Error naming the missing part, or everything that does not fit
 */
export async function convert(
  options: ConversionOptions,
  folder: string,
  signal: AbortSignal,
): Promise<ConversionReport> {
  if (!existsSync(join(trainingDir, 'imported'))) {
    throw new Error(
      `There is no ${join(trainingDir, 'imported')}. Import models from a copy of the source tree; packages and images lack this folder.`,
    );
  }
  const { code, stderr } = await run(options, folder, signal);
  signal.throwIfAborted();
  if (code === exitCodes.missingPackages) {
    throw new Error(
      `${options.python} lacks Python packages: ${stderr.trim()}. Install them (pip install torch onnx numpy), or name another Python with --python.`,
    );
  }
  if (code === exitCodes.unusableCheckpoint) {
    throw new Error(`${options.checkpoint} cannot be imported as ${options.family}:\n${stderr.trim()}`);
  }
  if (code !== 0) throw new Error(`The conversion failed (${code ?? 'a signal'}):\n${lastLines(stderr)}`);
  return reportIn(folder);
}

async function run({ python, ...options }: ConversionOptions, folder: string, signal: AbortSignal) {
  const args = ['-m', 'imported.convert', '--family', options.family, '--checkpoint', options.checkpoint];
  args.push('--name', options.name, '--out', folder, '--precision', options.precision);
  if (options.heads !== undefined) args.push('--heads', String(options.heads));
  if (options.dilation !== undefined) args.push('--dilation', String(options.dilation));
  const child = spawn(python, args, {
    env: { ...process.env, PYTHONPATH: trainingDir, PYTHONDONTWRITEBYTECODE: '1', PYTHONUNBUFFERED: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stop = (): void => {
    child.kill('SIGKILL');
  };
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  let stderr = '';
  child.stderr.on('data', (piece: Buffer) => {
    stderr = (stderr + piece.toString()).slice(-MAX_STDERR_CHARACTERS);
  });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    return { code, stderr };
  } catch (cause) {
    throw new Error(`${python} cannot be run: ${(cause as Error).message}. Name a Python with --python.`, {
      cause,
    });
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

const lastLines = (text: string): string => text.trim().split('\n').slice(-15).join('\n');

async function reportIn(folder: string): Promise<ConversionReport> {
  const report = JSON.parse(await readFile(join(folder, 'report.json'), 'utf8')) as ConversionReport;
  const { window_samples, spoof_index, logits } = report;
  const isWhole = [window_samples, spoof_index].every(Number.isInteger) && Array.isArray(logits);
  if (!isWhole) throw new Error('The conversion wrote an incomplete report.');
  return report;
}
