// SPDX-License-Identifier: Apache-2.0
//
// What imported detectors of full size cost on a CPU, with random weights: nothing is known of their accuracy here.
//
//   npm run bench:imported -- --python venv/bin/python --folder FOLDER xlsr-aasist:300m:float32 ...
//
// Makes a checkpoint of random numbers per case, imports it as `veravox models import` does (which compares the logits with
// PyTorch's), and times windows of 5 s in a process of its own, on one thread. Adds to bench/results/imported-models.json.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import type { Model } from '../src/analysis/models/manifest.js';
import { readManifest } from '../src/analysis/models/manifest.js';
import { readModelFile } from '../src/analysis/models/model-file.js';
import { inputSizeOf } from '../src/analysis/models/model-sizes.js';
import { ModelSession } from '../src/analysis/scoring/model-session.js';
import { packageDir } from '../src/base/config/package-dir.js';
import { families } from '../src/cli/model-import/families.js';
import { importModel } from '../src/cli/model-import/import-model.js';
import { describeMachine } from './machine.js';

const run = promisify(execFile);
const results = path.join(packageDir, 'bench/results/imported-models.json');
const WINDOW_SAMPLES = 80_000;
const RUNS = 5;

interface Measured {
  readonly load_s: number;
  /** On the clock, which other work on the machine slows down. */
  readonly median_window_s: number;
  /** Of the processor, on one thread. */
  readonly median_window_cpu_s: number;
  /** Of the process alone, without the weights, which all threads and processes share. */
  readonly private_memory_mb: number;
  readonly scores: readonly number[];
}

const seconds = (sinceMs: number): number => Number(((performance.now() - sinceMs) / 1000).toFixed(2));

/** Speech-like enough: harmonics that come and go. */
function windowOf(samples: number, pitchHz: number): Float32Array {
  return Float32Array.from({ length: samples }, (_, i) => {
    const t = i / 16_000;
    const voice = [1, 2, 3, 4, 5, 6].reduce((sum, k) => sum + Math.sin(2 * Math.PI * pitchHz * k * t) / k, 0);
    return 0.1 * Math.max(0, Math.sin(2 * Math.PI * 1.5 * t)) * voice;
  });
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;

async function measure(folder: string): Promise<Measured> {
  const [model] = (await readManifest(folder)).models as [Model];
  const { source } = await readModelFile(folder, model);
  const beginMs = performance.now();
  const session = await ModelSession.load(source, model, { provider: 'cpu' }, 1);
  const load_s = seconds(beginMs);
  const inputs = model.window_samples < WINDOW_SAMPLES ? 2 : 1;
  const clockTimes: number[] = [];
  const cpuTimes: number[] = [];
  const scores: number[] = [];
  for (let i = 0; i < RUNS + 1; i++) {
    const parts = Array.from({ length: inputs }, (_, k) =>
      windowOf(inputSizeOf(model), 100 + 30 * i + 7 * k),
    );
    const startMs = performance.now();
    const before = process.cpuUsage();
    scores.push(...(await session.score(parts)));
    // The first run takes memory.
    if (i === 0) continue;
    const { user, system } = process.cpuUsage(before);
    clockTimes.push(seconds(startMs));
    cpuTimes.push(Number(((user + system) / 1e6).toFixed(2)));
  }
  const [, privateKb = '0'] = /RssAnon:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  await session.release();
  return {
    load_s,
    median_window_s: median(clockTimes),
    median_window_cpu_s: median(cpuTimes),
    private_memory_mb: Math.round(Number(privateKb) / 1024),
    scores,
  };
}

async function measureCase(name: string, python: string, folder: string): Promise<object> {
  const [family = '', size = '', precision = ''] = name.split(':');
  const about = families[family];
  if (about === undefined || (precision !== 'float32' && precision !== 'float16')) {
    throw new Error(`${name} is not a case: expected family:size:precision.`);
  }
  const checkpoint = path.join(folder, `${family}-${size}.pth`);
  if (!existsSync(checkpoint)) {
    const args = [
      '-m',
      'imported.random_checkpoint',
      '--family',
      family,
      '--size',
      size,
      '--out',
      checkpoint,
    ];
    await run(python, args, { cwd: path.join(packageDir, 'training') });
  }
  const modelsDir = path.join(folder, name.replaceAll(':', '-'));
  rmSync(modelsDir, { recursive: true, force: true });
  const beginMs = performance.now();
  const { report, difference } = await importModel(
    { family, about, checkpoint, precision, python, modelsDir, aliases: [], licence: 'none' },
    new AbortController().signal,
  );
  const import_s = seconds(beginMs);
  const { stdout } = await run(process.execPath, [fileURLToPath(import.meta.url), '--measure', modelsDir]);
  return {
    parameters: report.parameters,
    import_s,
    largest_difference_from_pytorch: difference,
    ...JSON.parse(stdout),
  };
}

const { values, positionals } = parseArgs({
  options: { python: { type: 'string' }, folder: { type: 'string' }, measure: { type: 'string' } },
  allowPositionals: true,
});
if (values.measure !== undefined) {
  process.stdout.write(JSON.stringify(await measure(values.measure)));
} else {
  const { python = 'python3', folder = 'build/imported-models' } = values;
  mkdirSync(folder, { recursive: true });
  for (const name of positionals) {
    const found = await measureCase(name, python, path.resolve(folder));
    const before = existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')) : {};
    const cases = { ...before.cases, [name]: found };
    writeFileSync(results, `${JSON.stringify({ machine: describeMachine(), cases }, null, 2)}\n`);
    console.log(name, found);
  }
}
