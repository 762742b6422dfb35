// SPDX-License-Identifier: Apache-2.0
//
// Speed and scores of each model on the GPU: with WebGPU over Vulkan, with CUDA if it is installed, and on one thread of
// the CPU beside them. Windows per second, median and 99th percentile by batch; distance from the known answers; how far the
// same window differs in another batch; requests per second of the whole server. Finally a lost device under load. Without a GPU, Vulkan in software rehearses it:
//
//   npm run bench gpu -- --minutes 10
//   VK_ICD_FILENAMES=/usr/lib/chromium/vk_swiftshader_icd.json npm run bench gpu -- --minutes 10 --models detector-small-2026-11-25
//
// Prints tables, and on a GPU writes bench/results/gpu.json. Ends in about the given time: what no time is left for is left out.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { checkAnswers, differenceOf, holds } from '../src/analysis/known-answers/known-answers.js';
import { forGpu } from '../src/analysis/models/gpu-twin.js';
import { inputTextOf } from '../src/analysis/models/input-text.js';
import type { Model } from '../src/analysis/models/manifest.js';
import { loadManifest } from '../src/analysis/models/model-file.js';
import { startPipeline } from '../src/analysis/pipeline/pipeline.js';
import {
  cpuDevices,
  cudaDevices,
  type Provider,
  type ScoringDevice,
  webgpuDevice,
} from '../src/analysis/scoring/devices.js';
import { gpusHere } from '../src/analysis/scoring/gpus.js';
import { ModelSession } from '../src/analysis/scoring/model-session.js';
import { type ProviderChoice, trialOf } from '../src/analysis/scoring/provider.js';
import { loadAddon } from '../src/base/addon/addon.js';
import { packageDir } from '../src/base/config/package-dir.js';
import { losableGpu } from '../test/support/software-gpu.js';
import { benchArguments } from './support/arguments.js';
import { formBody, formType } from './support/form-body.js';
import { describeMachine } from './support/machine.js';
import { runPhase } from './support/overload-phase.js';
import { goodputPerS } from './support/overload-report.js';
import { startServer } from './support/server-process.js';

const { values } = benchArguments('npm run bench gpu -- [--minutes N] [--models ID,...]', {
  options: {
    minutes: { type: 'string', default: '10' },
    models: { type: 'string', default: '' },
    // A file: only loses the device while it exists.
    lose: { type: 'string' },
  },
});
const BATCHES = [1, 2, 4, 8, 16, 32, 64];
const LARGEST_BATCH = BATCHES.at(-1) as number;
const MOST_RUNS = 300;
/** Of the time: the rest is for known answers and the lost device. */
const SHARE_OF_SPEED = 0.6;
const SERVER_CLIP = 'models/known-answers/human-lj-b.flac';
const SERVER_CONNECTIONS = 64;
const SERVER_DURATION_S = 5;
/** Windows in a batch, for each device. */
const SERVER_BATCHES = { cpu: [4], webgpu: [32, 64], cuda: [32, 64] };

const beganMs = performance.now();
const totalMs = Number(values.minutes) * 60_000;
const leftMs = (): number => totalMs - (performance.now() - beganMs);

const modelsDir = path.join(packageDir, 'models');
const wanted = values.models === '' ? [] : values.models.split(',');
const models = (await loadManifest(modelsDir)).models.filter(
  ({ id }) => wanted.length === 0 || wanted.includes(id),
);
interface Speed {
  readonly model: string;
  readonly device: string;
  readonly batch: number;
  readonly windowsPerS: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly runs: number;
  /** Largest distance of an output from that of the same window alone. */
  readonly differenceInBatch: number;
}

/** Inputs of speech, as many as the largest batch has. */
function inputsOf(model: Model): Float32Array[] {
  const preparer = new (loadAddon().Preparer)(inputTextOf(model));
  const options = { minDurationS: 1, maxDurationS: 600, silenceThresholdPercent: 100, timeLimitMs: 60_000 };
  const inputs: Float32Array[] = [];
  for (const name of readdirSync(path.join(packageDir, 'test/fixtures')).filter((file) =>
    file.endsWith('.flac'),
  )) {
    preparer.open(readFileSync(path.join(packageDir, 'test/fixtures', name)), options, new Int32Array(1));
    for (;;) {
      const input = new Float32Array(preparer.inputSize);
      if (inputs.length >= LARGEST_BATCH || preparer.next(input) === undefined) break;
      inputs.push(input);
    }
    preparer.close();
  }
  return Array.from({ length: LARGEST_BATCH }, (_, i) => inputs[i % inputs.length] as Float32Array);
}

const percentile = (sorted: readonly number[], share: number): number =>
  Number((sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number).toFixed(3));

function distance(a: Float64Array, b: Float64Array): number {
  return a.reduce((largest, value, i) => Math.max(largest, Math.abs(value - (b[i] as number))), 0);
}

async function speedsOf(entry: Model, device: ScoringDevice, endMs: number): Promise<Speed[]> {
  const isCpu = device.provider === 'cpu';
  const model = isCpu ? entry : forGpu(entry);
  const bytes = readFileSync(path.join(modelsDir, model.file));
  const session = await ModelSession.load(bytes, model, device, LARGEST_BATCH);
  const speeds: Speed[] = [];
  try {
    const inputs = inputsOf(model);
    let alone: Float64Array | undefined;
    for (const batch of isCpu ? [1] : BATCHES) {
      const few = inputs.slice(0, batch);
      // The first run compiles shaders.
      const outputs = await session.score(few);
      alone ??= outputs;
      const timesMs: number[] = [];
      do {
        const beginMs = performance.now();
        await session.score(few);
        timesMs.push(performance.now() - beginMs);
      } while (timesMs.length < MOST_RUNS && performance.now() < endMs);
      const sorted = timesMs.toSorted((x, y) => x - y);
      const totalMsOfRuns = timesMs.reduce((sum, ms) => sum + ms, 0);
      speeds.push({
        model: entry.id,
        device: device.name,
        batch,
        windowsPerS: Number(((1000 * batch * timesMs.length) / totalMsOfRuns).toFixed(2)),
        p50Ms: percentile(sorted, 0.5),
        p99Ms: percentile(sorted, 0.99),
        runs: timesMs.length,
        differenceInBatch: distance(alone, outputs.subarray(0, alone.length)),
      });
      if (performance.now() > endMs) break;
    }
  } finally {
    await session.release();
  }
  return speeds;
}

const choiceOf = ({ provider, cudaIndex }: ScoringDevice): ProviderChoice => ({
  provider,
  ...(cudaIndex !== undefined && { gpus: [cudaIndex] }),
});

const pipelineConfig = {
  modelsDir,
  device: 'auto',
  prepareThreads: 1,
  scoringThreads: 1,
  maxBatchWindows: 1,
  onGpu: { prepareThreads: 1, maxBatchWindows: 1 },
  batchWaitMs: 0,
  queueTimeoutMs: 3_600_000,
  analysisTimeoutMs: 3_600_000,
} as const;

/** Distances of the known answers, each model's largest. */
async function answersOn(device: ScoringDevice, of: readonly Model[]) {
  const options = { models: of, choice: choiceOf(device) };
  const analyser = await startPipeline(pipelineConfig, new SharedArrayBuffer(0), options);
  try {
    const checks = await checkAnswers(analyser, modelsDir, of, isRehearsal ? 1 : undefined);
    return of.map(({ id }) => {
      const own = checks.filter(({ modelId }) => modelId === id);
      return {
        model: id,
        device: device.name,
        answers: own.length,
        hold: own.filter(holds).length,
        largestDifference: Number(Math.max(...own.map(differenceOf)).toPrecision(3)),
      };
    });
  } finally {
    await analyser.close();
  }
}

/** Requests per second of the whole server for a clip of 5.5 s, over connections that stay open. */
async function serverSpeed(device: Provider, batch: number) {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'veravox-gpu-server-'));
  const settings = { VERAVOX_DEVICE: device, VERAVOX_MAX_BATCH_WINDOWS: String(batch) };
  const server = await startServer(dataDir, settings);
  try {
    const body = formBody(readFileSync(path.join(packageDir, SERVER_CLIP))).toString('base64');
    const target = {
      port: server.port,
      pid: server.pid,
      boundary: formType.split('boundary=')[1] ?? '',
      body,
    };
    const phase = {
      durationS: SERVER_DURATION_S,
      closedConnections: SERVER_CONNECTIONS,
      slowClients: 0,
      abortsPerS: 0,
      keys: [{ apiKey: server.apiKey, name: 'all', perS: 0 }],
    };
    // The first one warms up.
    await runPhase(target, phase);
    const result = await runPhase(target, phase);
    return { device, batch, requestsPerS: Number(goodputPerS(result).toFixed(1)), peakMiB: result.peakMiB };
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true });
  }
}

/** The library of the Vulkan driver in use. */
function driverLibrary(): string {
  const given = process.env.VK_DRIVER_FILES ?? process.env.VK_ICD_FILENAMES;
  const folders = ['/etc/vulkan/icd.d', '/usr/share/vulkan/icd.d'];
  const files =
    given?.split(':') ??
    folders.flatMap((folder) => {
      try {
        return readdirSync(folder).map((name) => path.join(folder, name));
      } catch {
        return [];
      }
    });
  // Mesa's driver in software lies beside those of GPUs.
  const file = files.find((name) => !path.basename(name).startsWith('lvp')) ?? '';
  const { library_path } = JSON.parse(readFileSync(file, 'utf8')).ICD as { library_path: string };
  return library_path.includes('/') ? path.resolve(path.dirname(file), library_path) : library_path;
}

/** The same in a process of its own, since a process keeps the driver of its first session. */
function loseDeviceOfChild(model: Model): unknown {
  const folder = mkdtempSync(path.join(tmpdir(), 'veravox-lost-gpu-'));
  try {
    const { env } = losableGpu(folder, driverLibrary());
    const { VK_DRIVER_FILES: _, ...others } = process.env;
    const args = [fileURLToPath(import.meta.url), '--models', model.id, '--lose', env.VERAVOX_TEST_LOST];
    const options = {
      env: { ...others, ...env },
      timeout: Math.round(Math.max(60_000, leftMs())),
      encoding: 'utf8',
    } as const;
    return JSON.parse(execFileSync(process.execPath, args, options));
  } catch (error) {
    const { message, signal } = error as Error & { signal?: string | null };
    return { failed: signal ? `its process ended by ${signal}` : message };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Loses the WebGPU device while the file exists, under one request after another. */
async function loseDevice(model: Model, file: string) {
  const changes: { readonly atMs: number; readonly device: string; readonly isWorking: boolean }[] = [];
  let lostMs = 0;
  const analyser = await startPipeline(pipelineConfig, new SharedArrayBuffer(0), {
    models: [model],
    choice: choiceOf(webgpuDevice),
    scoring: {
      onChange: ({ name, isWorking }) =>
        changes.push({ atMs: Math.round(performance.now() - lostMs), device: name, isWorking }),
    },
  });
  const timesMs: number[] = [];
  const failures: string[] = [];
  const ask = async (): Promise<void> => {
    const beginMs = performance.now();
    for (const { error } of await checkAnswers(analyser, modelsDir, [model], 1)) {
      if (error !== undefined) failures.push(error);
    }
    timesMs.push(Math.round(performance.now() - beginMs));
  };
  const gpuWorks = () => analyser.status().scoring?.devices[0]?.isWorking === true;
  try {
    await ask();
    lostMs = performance.now();
    writeFileSync(file, '');
    while (timesMs.length < 10) await ask();
    rmSync(file);
    const backMs = performance.now();
    while (!gpuWorks()) await setTimeout(100);
    await ask();
    return {
      requests: timesMs.length,
      failures,
      msPerRequest: timesMs,
      changes,
      backAfterMs: Math.round(performance.now() - backMs),
    };
  } finally {
    await analyser.close();
  }
}

if (values.lose !== undefined) {
  console.log(JSON.stringify(await loseDevice(models[0] as Model, values.lose)));
  process.exit();
}
const trial = trialOf(modelsDir, models[0] as Model);
const webgpu = await gpusHere.probeWebGpu(trial);
const cudaProblem = await gpusHere.probe(trial, 0);
const devices: ScoringDevice[] = [
  ...cpuDevices(1),
  ...('adapter' in webgpu ? [webgpuDevice] : []),
  ...(cudaProblem === undefined ? cudaDevices([0]) : []),
];
console.log('WebGPU:', webgpu, 'CUDA:', cudaProblem ?? 'works');
// Software takes a minute for a window.
const isRehearsal = 'adapter' in webgpu && webgpu.adapter.isSoftware;
const speeds: Speed[] = [];
const answers: Awaited<ReturnType<typeof answersOn>>[number][] = [];
const parts = devices.flatMap((device) => models.map((model) => ({ device, model })));
for (const [i, { device, model }] of parts.entries()) {
  const shareMs = (SHARE_OF_SPEED * totalMs - (performance.now() - beganMs)) / (parts.length - i);
  if (shareMs <= 0) break;
  const found = await speedsOf(model, device, performance.now() + shareMs);
  console.table(found);
  speeds.push(...found);
}
for (const device of devices) {
  for (const model of models) {
    if (leftMs() > 0.2 * totalMs) answers.push(...(await answersOn(device, [model])));
  }
}
console.table(answers);
const servers: Awaited<ReturnType<typeof serverSpeed>>[] = [];
for (const { provider } of isRehearsal ? cpuDevices(1) : devices) {
  for (const batch of SERVER_BATCHES[provider]) {
    if (leftMs() > 0.1 * totalMs) servers.push(await serverSpeed(provider, batch));
  }
}
console.table(servers);
const [fastest] = speeds
  .filter(({ device }) => device === webgpuDevice.name)
  .toSorted((a, b) => b.windowsPerS - a.windowsPerS);
const losing = models.find(({ id }) => id === fastest?.model);
const lost = losing && leftMs() > 0 ? loseDeviceOfChild(losing) : undefined;
console.log('Lost device:', lost);
const report = {
  what: 'Windows of 5 s: the models alone, known answers through the pipeline, the whole server, and a lost WebGPU device',
  machine: describeMachine(),
  webgpu,
  cuda: cudaProblem?.replace(`${packageDir}/`, '') ?? 'works',
  tookS: Math.round((performance.now() - beganMs) / 1000),
  speeds,
  answers,
  servers,
  lost,
};
const results = path.join(packageDir, 'bench/results/gpu.json');
if (!isRehearsal) writeFileSync(results, `${JSON.stringify(report, null, 2)}\n`);
