// SPDX-License-Identifier: Apache-2.0
//
// Hosts needed for a number of recordings per day (docs/scaling.md). Measures one core, checks that the
// simulation of a host agrees with the real one under the same load, and simulates fleets.
//
//   npm run bench scaling
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageDir } from '../src/base/config/package-dir.js';
import { type Balancing, fewestHosts, meanOf, simulateFleet } from './scaling/fleet.js';
import { MeasuredHost, makeClip } from './scaling/host.js';
import { describeMachine } from './support/machine.js';
import { startServer } from './support/server-process.js';

const DEFAULT_MODEL = 'apollo-4-5-2026-03-26';
const MODELS = [DEFAULT_MODEL, 'apollo-4-2026-01-16'];
const LENGTHS_S = [5, 15, 60];
const LOADS = [0.3, 0.5, 0.7, 0.85];
const RECORDINGS_PER_DAY = [1e6, 1e7, 1e8, 1e9];
const CORES_PER_HOST = 16;
/** Ratio of the busiest hour to the mean of the day. */
const PEAK_FACTOR = 2.5;
const P99_MS = 250;
/** Above this load, a real host is slower than the simulated one. */
const MAX_LOAD = 0.7;
const SECONDS_PER_DAY = 86_400;

const rounded = (value: number, digits = 1): number => Number(value.toFixed(digits));
const atShare = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(share * values.length)] ?? Number.NaN;

const folder = mkdtempSync(join(tmpdir(), 'veravox-bench-'));
const cores = availableParallelism();
// The server has the first core, everything else the last one.
if (cores > 1)
  execFileSync('taskset', ['-a', '-p', '-c', String(cores - 1), String(process.pid)], { stdio: 'ignore' });
const server = await startServer(join(folder, 'data'), {}, cores > 1 ? { cpus: '0' } : {});
try {
  const clips = new Map(LENGTHS_S.map((lengthS) => [lengthS, makeClip(folder, lengthS)]));
  const hostFor = (model: string, lengthS: number) =>
    new MeasuredHost(server, clips.get(lengthS) as Buffer, model);
  const short = hostFor(DEFAULT_MODEL, 5);
  for (let i = 0; i < 3; i++) await short.maximumPerS(4);

  const perCore = [];
  for (const model of MODELS) {
    for (const lengthS of LENGTHS_S) {
      const host = hostFor(model, lengthS);
      await host.maximumPerS(1);
      perCore.push({ model, lengthS, answersPerS: rounded(await host.maximumPerS(4)) });
    }
  }
  console.table(perCore);

  const aloneMs = await short.aloneMs(8);
  const validation = [];
  for (const load of LOADS) {
    // The machine's speed drifts, so each phase gets its own maximum.
    const maximumPerS = await short.maximumPerS(3);
    const scale = 1000 / maximumPerS / meanOf(aloneMs);
    const serviceMs = aloneMs.map((ms) => ms * scale);
    const arrivalsPerS = load * maximumPerS;
    const real = await short.latencies(arrivalsPerS, 10);
    const simulated = simulateFleet({
      ...{
        hosts: 1,
        coresPerHost: 1,
        arrivalsPerS,
        serviceMs,
        balancing: 'random',
        requests: 200_000,
        seed: 1,
      },
    });
    validation.push({
      load,
      realP50Ms: rounded(atShare(real.acceptedMs, 0.5)),
      simulatedP50Ms: rounded(simulated.p50Ms),
      realP99Ms: rounded(atShare(real.acceptedMs, 0.99)),
      simulatedP99Ms: rounded(simulated.p99Ms),
      requests: real.acceptedMs.length,
      refused: real.refused,
      othersCores: rounded(real.othersCores, 2),
    });
  }
  console.table(validation);

  const answersPerS = perCore[0]?.answersPerS as number;
  const scale = 1000 / answersPerS / meanOf(aloneMs);
  const serviceMs = aloneMs.map((ms) => ms * scale);
  const fleets = [];
  for (const recordingsPerDay of RECORDINGS_PER_DAY) {
    const arrivalsPerS = (PEAK_FACTOR * recordingsPerDay) / SECONDS_PER_DAY;
    for (const balancing of ['random', 'turns', 'two-choices'] satisfies Balancing[]) {
      const order = {
        coresPerHost: CORES_PER_HOST,
        arrivalsPerS,
        serviceMs,
        balancing,
        requests: 300_000,
        seed: 1,
      };
      const work = (arrivalsPerS * meanOf(serviceMs)) / 1000;
      const hosts = Math.max(fewestHosts(order, P99_MS).hosts, Math.ceil(work / MAX_LOAD / CORES_PER_HOST));
      const { load, p50Ms, p99Ms, p999Ms } = simulateFleet({ ...order, hosts });
      fleets.push({
        ...{
          recordingsPerDay,
          balancing,
          arrivalsPerS: rounded(arrivalsPerS),
          hosts,
          load: rounded(load, 2),
        },
        ...{ p50Ms: rounded(p50Ms), p99Ms: rounded(p99Ms), p999Ms: rounded(p999Ms) },
      });
    }
  }
  console.table(fleets);

  const report = {
    what: `fleets of hosts with ${CORES_PER_HOST} cores; recordings of 5 s, WAV; busiest hour ${PEAK_FACTOR} times the mean; load at most ${MAX_LOAD}, p99 at most ${P99_MS} ms`,
    machine: describeMachine(),
    perCore,
    aloneMs: {
      p50: rounded(atShare(aloneMs, 0.5)),
      p99: rounded(atShare(aloneMs, 0.99)),
      requests: aloneMs.length,
    },
    validation,
    fleets,
  };
  writeFileSync(join(packageDir, 'bench/results/scaling.json'), `${JSON.stringify(report, null, 2)}\n`);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true });
}
