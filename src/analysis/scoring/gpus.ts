// SPDX-License-Identifier: Apache-2.0
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';

const run = promisify(execFile);

/** The driver has a folder here for each GPU, named by its place on the PCI bus. */
const DRIVER_FOLDER = '/proc/driver/nvidia/gpus';
const LIST_TIMEOUT_MS = 10_000;
const PROBE_TIMEOUT_MS = 120_000;

/** The GPUs of this machine. */
export interface Gpus {
  /** Their models, in the order of their numbers; undefined if the machine does not tell. */
  list(): Promise<readonly string[] | undefined>;
  /** Undefined if a session with the model can be made on the GPU; else why not. */
  probe(modelPath: string, index: number): Promise<string | undefined>;
}

export const gpusHere: Gpus = { list: () => listGpus(), probe };

/** The path of onnxruntime-node's CUDA provider library. */
export function cudaLibraryPath(): string {
  const entry = createRequire(import.meta.url).resolve('onnxruntime-node');
  const folder = join(dirname(entry), '..', 'bin', 'napi-v6', process.platform, process.arch);
  return join(folder, 'libonnxruntime_providers_cuda.so');
}

/**
 * The GPUs that the driver's files or `nvidia-smi` name, by place on the PCI bus; without GPUs that CUDA_VISIBLE_DEVICES hides,
 * in its order.
 */
export async function listGpus(
  driverFolder = DRIVER_FOLDER,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<readonly string[] | undefined> {
  const all = (await listOfDriver(driverFolder)) ?? (await listOfNvidiaSmi(env));
  const visible = env.CUDA_VISIBLE_DEVICES?.split(',').map((part) => part.trim());
  if (visible === undefined) return all;
  const end = visible.findIndex((part) => part === '' || part.startsWith('-'));
  const used = end < 0 ? visible : visible.slice(0, end);
  return used.map((part) => (/^\d+$/.test(part) && all?.[Number(part)]) || part);
}

async function listOfDriver(folder: string): Promise<string[] | undefined> {
  try {
    const places = (await readdir(folder)).sort();
    if (places.length === 0) return undefined;
    return await Promise.all(
      places.map(async (place) => {
        const text = await readFile(join(folder, place, 'information'), 'utf8');
        return /^Model:\s*(.+)$/m.exec(text)?.[1] ?? place;
      }),
    );
  } catch {
    return undefined;
  }
}

async function listOfNvidiaSmi(
  env: Readonly<Record<string, string | undefined>>,
): Promise<string[] | undefined> {
  try {
    const query = ['--query-gpu=name', '--format=csv,noheader'];
    const { stdout } = await run('nvidia-smi', query, { timeout: LIST_TIMEOUT_MS, env });
    const models = stdout.split('\n').filter((line) => line.trim() !== '');
    return models.length === 0 ? undefined : models;
  } catch {
    return undefined;
  }
}

// In a process of its own, since a broken CUDA set-up can take its process down.
async function probe(modelPath: string, index: number): Promise<string | undefined> {
  const library = cudaLibraryPath();
  if (!existsSync(library)) return `the CUDA provider library is not installed (${library})`;
  try {
    const script = fileURLToPath(new URL('./cuda-probe.js', import.meta.url));
    await run(process.execPath, [script, modelPath, String(index)], { timeout: PROBE_TIMEOUT_MS });
    return undefined;
  } catch (error) {
    return `CUDA could not be used: ${whyProbeFailed(error as FailedProbe)}`;
  }
}

export interface FailedProbe {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly signal?: string | null;
  readonly killed?: boolean;
}

/** The probe's own words; after a crash, the last line of its libraries. */
export function whyProbeFailed({ stdout = '', stderr = '', signal, killed = false }: FailedProbe): string {
  const said = stripVTControlCharacters(stdout).trim();
  if (said !== '') return said;
  if (killed) return `a session took more than ${PROBE_TIMEOUT_MS / 1000} s`;
  const last = stripVTControlCharacters(stderr).trim().split('\n').at(-1)?.trim();
  return last || `its process ended${signal ? ` by ${signal}` : ''} without a word`;
}
