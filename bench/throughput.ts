// SPDX-License-Identifier: Apache-2.0
//
// Requests/s of the whole server on a 5 s WAV over keep-alive connections, next to the rate of bare ONNX
// sessions in as many threads. Both are measured in turn, several times, so that the ratio holds on a machine
// whose speed drifts. The load comes from wrk on the same cores and counts against the server.
//
//   npm run bench throughput [-- --rounds 5 --seconds 6 --connections 16 --threads 2]
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { InputSlots } from '../src/analysis/memory/input-slots.js';
import { inputTextOf } from '../src/analysis/models/input-text.js';
import type { Model } from '../src/analysis/models/manifest.js';
import { loadManifest } from '../src/analysis/models/model-file.js';
import { loadAddon } from '../src/base/addon/addon.js';
import { packageDir } from '../src/base/config/package-dir.js';
import '../src/analysis/scoring/telemetry-off.js';
import type { BareOnnxData } from './support/bare-onnx-worker.js';
import { describeMachine } from './support/machine.js';
import { startServer } from './support/server-process.js';
import { type LoadResult, load } from './support/wrk.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '6' },
    connections: { type: 'string', default: '16' },
    threads: { type: 'string', default: String(availableParallelism()) },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const connections = Number(values.connections);
const threads = Number(values.threads);

const modelsDir = join(packageDir, 'models');

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] as number;
}

async function startBare(model: Model, wav: Uint8Array): Promise<Worker[]> {
  const preparer = new (loadAddon().Preparer)(inputTextOf(model));
  const slots = InputSlots.create(1, preparer.inputSize);
  const options = { minDurationS: 1, maxDurationS: 60, silenceThresholdPercent: 100, timeLimitMs: 60_000 };
  preparer.open(wav, options, new Int32Array(1));
  preparer.next(slots.view(0, preparer.inputSize));
  preparer.close();
  const workerData: BareOnnxData = { modelsDir, model, slots: slots.shared };
  const url = new URL('./support/bare-onnx-worker.js', import.meta.url);
  const workers = Array.from({ length: threads }, () => new Worker(url, { workerData }));
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  return workers;
}

async function bareWindowsPerS(workers: readonly Worker[]): Promise<number> {
  const rates = await Promise.all(
    workers.map(async (worker) => {
      worker.postMessage(seconds * 1000);
      const [rate] = await once(worker, 'message');
      return rate as number;
    }),
  );
  return rates.reduce((sum, rate) => sum + rate, 0);
}

const folder = mkdtempSync(join(tmpdir(), 'veravox-bench-'));
const wavPath = join(folder, 'clip.wav');
execFileSync('ffmpeg', [
  ...['-v', 'error', '-i', join(packageDir, 'test/fixtures/human-lj-a.flac')],
  ...['-t', '5', '-ar', '16000', '-ac', '1', '-c:a', 'pcm_s16le', wavPath],
]);
const wav = readFileSync(wavPath);
const model = (await loadManifest(modelsDir)).models[0] as Model;
const { port, apiKey, stop } = await startServer(join(folder, 'data'), {
  VERAVOX_SCORING_THREADS: String(threads),
});
const bareWorkers = await startBare(model, wav);
try {
  await load({ port, apiKey, file: wav, connections, durationS: 10 });
  const rows: { bare: number; server: LoadResult; ratio: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const bare = await bareWindowsPerS(bareWorkers);
    const loaded = await load({ port, apiKey, file: wav, connections, durationS: seconds });
    rows.push({ bare, server: loaded, ratio: loaded.requestsPerS / bare });
  }
  console.table(
    rows.map(({ bare, server: { requestsPerS, failed, p50Ms, p95Ms, p99Ms }, ratio }) => ({
      'bare windows/s': bare.toFixed(1),
      'server requests/s': requestsPerS.toFixed(1),
      ratio: ratio.toFixed(3),
      failed,
      'p50 ms': p50Ms.toFixed(1),
      'p95 ms': p95Ms.toFixed(1),
      'p99 ms': p99Ms.toFixed(1),
    })),
  );
  const report = {
    what: `5 s WAV, ${connections} keep-alive connections, ${threads} scoring threads, ${rounds} rounds of ${seconds} s each`,
    machine: describeMachine(),
    model: model.id,
    medianBareWindowsPerS: median(rows.map((row) => row.bare)),
    medianServerRequestsPerS: median(rows.map((row) => row.server.requestsPerS)),
    medianRatio: median(rows.map((row) => row.ratio)),
    medianP50Ms: median(rows.map((row) => row.server.p50Ms)),
    medianP95Ms: median(rows.map((row) => row.server.p95Ms)),
    medianP99Ms: median(rows.map((row) => row.server.p99Ms)),
    failed: rows.reduce((sum, row) => sum + row.server.failed, 0),
  };
  console.log(`median ratio ${report.medianRatio.toFixed(3)}, ${report.failed} failed requests`);
  writeFileSync(join(packageDir, 'bench/results/throughput.json'), `${JSON.stringify(report, null, 2)}\n`);
} finally {
  for (const worker of bareWorkers) await worker.terminate();
  await stop();
  rmSync(folder, { recursive: true });
}
