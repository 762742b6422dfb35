// SPDX-License-Identifier: Apache-2.0
//
// The server's throughput at 10 and 25 times its capacity, with 800 clients that send a byte per second and others that break
// off; the effect of one greedy key on other keys; and the latency of probes. In reality the load comes from other machines; so
// it has one core here, and the server the others, in all phases. First the server is warmed up, until neither its maximum nor
// its rate under overload grows. Then short phases alternate. Other programs that use more than a tenth of a core make the
// figures worthless, and the run says so.
//
//   npm run bench overload [-- --rounds 3 --seconds 7 --times 10,25]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageDir } from '../src/base/config/package-dir.js';
import { formBody, formType } from './support/form-body.js';
import { describeMachine } from './support/machine.js';
import { type PhaseOrder, type PhaseResult, runPhase } from './support/overload-phase.js';
import { describePhases, GREEDY, goodputPerS, type MeasuredPhase, mean } from './support/overload-report.js';
import { createKey, startServer } from './support/server-process.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '7' },
    times: { type: 'string', default: '10,25' },
  },
});
const rounds = Number(values.rounds);
const durationS = Number(values.seconds);
const timesOfOverload = values.times.split(',').filter(Boolean).map(Number);
const closedConnections = 16;
const maximumS = 4;
const slowClients = 800;
const abortsPerS = 20;
/** Share of the server's capacity for each of the two keys that are not greedy. */
const politeShare = 0.2;
const greedyFactor = 5;
const cores = availableParallelism();
const cpus = { server: cores > 2 ? `0-${cores - 2}` : '0', load: String(cores - 1) };
const isPinned = cores > 1 && process.platform === 'linux';
const wanted = { goodput: 0.9, acceptedP99Ms: 2000, politeP99Factor: 2, probeMs: 100, othersCores: 0.1 };
/** The server is warm when a maximum exceeds the previous best by at most this factor. */
const WARM_GROWTH = 1.02;
const MAX_WARM_UPS = 5;

const folder = mkdtempSync(join(tmpdir(), 'veravox-bench-'));
const clip = join(folder, 'clip.ogg');
execFileSync('ffmpeg', [
  ...['-v', 'error', '-i', join(packageDir, 'test/fixtures/human-lj-a.flac')],
  ...['-t', '5', '-ar', '16000', '-ac', '1', '-c:a', 'libopus', '-b:a', '24k', clip],
]);
const body = formBody(readFileSync(clip));
const dataDir = join(folder, 'data');
// Applies to all current threads; forked processes inherit it.
if (isPinned)
  execFileSync('taskset', ['-a', '-p', '-c', cpus.load, String(process.pid)], { stdio: 'ignore' });
const server = await startServer(dataDir, {}, isPinned ? { cpus: cpus.server } : {});
const { port, apiKey: greedyKey, pid, stop } = server;
const politeKeys = [createKey(dataDir), createKey(dataDir)];
const boundary = formType.split('boundary=')[1] ?? '';
const target = { port, pid, boundary, body: body.toString('base64') };

function run(rates: { greedyPerS?: number; politePerS?: number }, rest: Partial<PhaseOrder> = {}) {
  const { greedyPerS = 0, politePerS = 0 } = rates;
  const keys = [
    { apiKey: greedyKey, name: GREEDY, perS: greedyPerS },
    ...politeKeys.map((apiKey, i) => ({ apiKey, name: `polite ${i + 1}`, perS: politePerS })),
  ];
  return runPhase(target, { durationS, slowClients: 0, abortsPerS: 0, keys, ...rest });
}

const maxima: PhaseResult[] = [];
async function maximumPerS(): Promise<number> {
  const result = await run({}, { closedConnections, durationS: maximumS });
  maxima.push(result);
  return goodputPerS(result);
}

/** Resolves with the maximum of a warm server. The path of refusals must also be warm. */
async function warmUp(): Promise<number> {
  let best = await maximumPerS();
  let bestOverloaded = 0;
  const times = Math.max(...timesOfOverload, greedyFactor);
  for (let i = 0; i < MAX_WARM_UPS; i++) {
    const rates = { greedyPerS: times * best, politePerS: politeShare * best };
    const overloaded = goodputPerS(await run(rates, { slowClients, abortsPerS }));
    const next = await maximumPerS();
    const isWarm = next <= best * WARM_GROWTH && overloaded <= bestOverloaded * WARM_GROWTH;
    best = Math.max(best, next);
    bestOverloaded = Math.max(bestOverloaded, overloaded);
    if (isWarm) break;
  }
  return best;
}

async function secondsToRecover(): Promise<number> {
  const startedMs = performance.now();
  for (;;) {
    const askedMs = performance.now();
    const answer = await fetch(`http://127.0.0.1:${port}/v1/predict`, {
      method: 'POST',
      headers: { 'x-api-key': greedyKey, 'content-type': formType },
      body,
    });
    await answer.arrayBuffer();
    if (answer.status === 200 && performance.now() - askedMs < 300) return (askedMs - startedMs) / 1000;
    if (askedMs - startedMs > 30_000) return Number.NaN;
  }
}

const politeP99Ms = ({ politeMs }: ReturnType<typeof describePhases>): number => politeMs?.p99 ?? Number.NaN;

try {
  const warmPerS = await warmUp();
  const warmUps = maxima.splice(0).map(goodputPerS);
  const politePerS = warmPerS * politeShare;
  const calm: MeasuredPhase[] = [];
  const greedy: MeasuredPhase[] = [];
  const overload = timesOfOverload.map((times) => ({
    times,
    phases: [] as MeasuredPhase[],
    recoveredS: [] as number[],
  }));
  let before = await maximumPerS();
  for (let round = 0; round < rounds; round++) {
    const calmResult = await run({ politePerS });
    const greedyResult = await run({ greedyPerS: greedyFactor * warmPerS, politePerS });
    let after = await maximumPerS();
    calm.push({ result: calmResult, maximaPerS: [before, after] });
    greedy.push({ result: greedyResult, maximaPerS: [before, after] });
    for (const { times, phases, recoveredS } of overload) {
      before = after;
      const greedyPerS = (times - 2 * politeShare) * warmPerS;
      const result = await run({ greedyPerS, politePerS }, { slowClients, abortsPerS });
      recoveredS.push(await secondsToRecover());
      after = await maximumPerS();
      phases.push({ result, maximaPerS: [before, after] });
    }
    before = after;
  }
  const described = { calm: describePhases(calm), oneGreedyKey: describePhases(greedy) };
  const maximum = describePhases(maxima.map((result) => ({ result, maximaPerS: [goodputPerS(result)] })));
  const report = {
    what: `5 s Opus clip of ${body.length} bytes; maximum: ${closedConnections} connections, ${maximumS} s; ${rounds} rounds of phases of ${durationS} s`,
    machine: describeMachine(),
    cpus: isPinned ? cpus : 'shared by server and load',
    warmUpsPerS: warmUps,
    maximumPerS: maximum.goodputPerS,
    meanMaximumPerS: mean(maximum.goodputPerS),
    maximumCores: maximum.cores,
    politePerS: 2 * politePerS,
    wanted,
    calm: described.calm,
    oneGreedyKey: {
      timesTheMaximum: greedyFactor,
      politeP99Factor: politeP99Ms(described.oneGreedyKey) / politeP99Ms(described.calm),
      ...described.oneGreedyKey,
    },
    overload: overload.map(({ times, phases, recoveredS }) => ({
      timesTheMaximum: times,
      slowClients,
      abortsPerS,
      recoveredS,
      ...describePhases(phases),
    })),
  };
  console.log(JSON.stringify(report, null, 2));
  writeFileSync(join(packageDir, 'bench/results/overload.json'), `${JSON.stringify(report, null, 2)}\n`);
  const keys = report.overload.flatMap((phase) => phase.keys);
  const all = [report.calm, report.oneGreedyKey, ...report.overload];
  const checks = {
    goodput: report.overload.every(({ goodputOfMaximum }) => goodputOfMaximum >= wanted.goodput),
    acceptedP99: keys.every(({ acceptedMs }) => (acceptedMs?.p99 ?? 0) <= wanted.acceptedP99Ms),
    politeP99: report.oneGreedyKey.politeP99Factor <= wanted.politeP99Factor,
    probes: report.overload.every(({ probesMs }) => (probesMs?.p99 ?? 0) <= wanted.probeMs),
    retryAfter: keys.every(({ withoutRetryAfter }) => withoutRetryAfter === 0),
    machineWasQuiet: all.every((phase) => phase.cores.others <= wanted.othersCores),
  };
  console.log(checks);
  process.exitCode = Object.values(checks).every(Boolean) ? 0 : 1;
} finally {
  await stop();
  rmSync(folder, { recursive: true });
}
