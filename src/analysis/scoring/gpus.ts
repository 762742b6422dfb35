// SPDX-License-Identifier: Apache-2.0
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import type { VulkanAdapter } from '../../base/addon/addon.js';

const run = promisify(execFile);

/** The driver has a folder here for each GPU, named by its place on the PCI bus. */
const DRIVER_FOLDER = '/proc/driver/nvidia/gpus';
/** The kernel's driver of any GPU has nodes here. */
const NODES_FOLDER = '/dev/dri';
const LIST_TIMEOUT_MS = 10_000;
const PROBE_TIMEOUT_MS = 120_000;

/** A model to try a device with. */
export interface Trial {
  readonly path: string;
  /** The file for GPUs; the same, unless it has a twin. */
  readonly gpuPath: string;
}

/** The finding about WebGPU: the adapter that it uses, or the problem. */
export type WebGpuFinding =
  | {
      readonly adapter: VulkanAdapter;
      /** Model inputs per second, in proportion to those of this many threads of the CPU. Absent unless asked for. */
      readonly timesCpu?: number;
    }
  | { readonly problem: string };

/** The GPUs of this machine. */
export interface Gpus {
  /** The models of those of NVIDIA, in the order of their numbers; undefined if the machine does not tell. */
  list(): Promise<readonly string[] | undefined>;
  /** Whether there may be a GPU, from whatever vendor. */
  mayExist(): boolean;
  /** Undefined if CUDA can make a session with the model on the GPU; else why not. */
  probe(trial: Trial, index: number): Promise<string | undefined>;
  /** Makes a session with WebGPU; on a real adapter, compares it with this many threads of the CPU. */
  probeWebGpu(trial: Trial, cpuThreads?: number): Promise<WebGpuFinding>;
}

export const gpusHere: Gpus = { list: () => listGpus(), mayExist, probe, probeWebGpu };

function mayExist(): boolean {
  try {
    return readdirSync(NODES_FOLDER).some((name) => name.startsWith('renderD'));
  } catch {
    return false;
  }
}

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

// In a process of its own, since a broken driver can take its process down.
async function probe({ gpuPath }: Trial, index: number): Promise<string | undefined> {
  const library = cudaLibraryPath();
  if (!existsSync(library)) return `the CUDA provider library is not installed (${library})`;
  try {
    await runProbe('cuda-probe', [gpuPath, String(index)]);
    return undefined;
  } catch (error) {
    return `CUDA could not be used: ${whyProbeFailed(error as FailedProbe)}`;
  }
}

async function probeWebGpu({ path, gpuPath }: Trial, cpuThreads = 0): Promise<WebGpuFinding> {
  try {
    return JSON.parse(await runProbe('webgpu-probe', [path, gpuPath, String(cpuThreads)])) as WebGpuFinding;
  } catch (error) {
    return { problem: `WebGPU could not be used: ${whyProbeFailed(error as FailedProbe)}` };
  }
}

async function runProbe(name: string, args: readonly string[]): Promise<string> {
  const script = fileURLToPath(new URL(`./${name}.js`, import.meta.url));
  const { stdout } = await run(process.execPath, [script, ...args], { timeout: PROBE_TIMEOUT_MS });
  return stdout;
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
