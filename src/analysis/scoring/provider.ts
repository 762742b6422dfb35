// SPDX-License-Identifier: Apache-2.0
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Config } from '../../base/config/options.js';
import type { Provider } from './scoring-task.js';

export interface ProviderChoice {
  readonly provider: Provider;
  /** Why `auto` did not give CUDA. */
  readonly fallbackReason?: string;
}

const probeTimeoutMs = 120_000;

/** Where onnxruntime-node looks for its CUDA provider library. */
export function cudaLibraryPath(): string {
  const entry = createRequire(import.meta.url).resolve('onnxruntime-node');
  const folder = join(dirname(entry), '../..', 'bin', 'napi-v6', process.platform, process.arch);
  return join(folder, 'libonnxruntime_providers_cuda.so');
}

// Undefined when a session really ran on CUDA; else what is missing. In a process of its own, since a broken
// CUDA set-up can take its process down.
async function cudaProblem(modelPath: string): Promise<string | undefined> {
  const library = cudaLibraryPath();
  if (!existsSync(library)) return `the CUDA provider library is not installed (${library})`;
  try {
    const probe = fileURLToPath(new URL('./cuda-probe.js', import.meta.url));
    await promisify(execFile)(process.execPath, [probe, modelPath], { timeout: probeTimeoutMs });
    return undefined;
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    return `CUDA could not be used: ${stderr?.trim() || message}`;
  }
}

/**
 * Decides what runs the models. `cuda` throws when CUDA cannot be used, with what is missing; `auto` falls back
 * to the CPU and says why. `modelPath` is an ONNX file to try CUDA with.
 */
export async function chooseProvider(device: Config['device'], modelPath: string): Promise<ProviderChoice> {
  if (device === 'cpu') return { provider: 'cpu' };
  const problem = await cudaProblem(modelPath);
  if (problem === undefined) return { provider: 'cuda' };
  if (device === 'cuda') throw new Error(`VERAVOX_DEVICE is cuda, but ${problem}.`);
  return { provider: 'cpu', fallbackReason: problem };
}
