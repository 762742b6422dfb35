// SPDX-License-Identifier: Apache-2.0
//
// Mutated requests over HTTP, against the real server: damaged recordings of every format, forms, JSON, queries, links,
// raw bytes and requests that break off. Passes when the process stays up and answers within the bound, each answer is
// in the contract and belongs to its request, good requests in between get their usual score, and the memory comes
// back.
//
//   npm run bench http-fuzz -- [--count 200000] [--seed 1] [--seconds 3600] [--from 0] [--in-flight 8]
//       [--pause-file FILE]                             sends nothing while that file exists
//   npm run bench http-fuzz -- --seed 1 --only INDEX      sends one input of a run again
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine } from '../../bench/support/machine.js';
import { slopeOf } from '../../bench/support/slope.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { Connection } from './http-fuzz/connection.js';
import { makeInput } from './http-fuzz/input-maker.js';
import { Random } from './http-fuzz/random.js';
import { fuzz, problemIn, send } from './http-fuzz/run.js';
import { makeSeedFiles } from './http-fuzz/seed-files.js';
import { startTarget, surroundingsOf } from './http-fuzz/target.js';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '200000' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '3600' },
    from: { type: 'string', default: '0' },
    'in-flight': { type: 'string', default: '8' },
    'bound-ms': { type: 'string', default: '20000' },
    'pause-file': { type: 'string', default: '' },
    only: { type: 'string' },
  },
});
const seed = Number(values.seed);
const boundMs = Number(values['bound-ms']);
/** Of the resident memory, per hour at the rate of the run, after warm-up. */
const allowedGrowthPerHour = 0.1;
const settledAfterS = 1200;
const findingsDir = join(packageDir, 'build/http-fuzz');
const progressEveryS = 30;

/** The mean of each minute: time that the server needs to reach its size. */
function eachMinute(samples: readonly (readonly [number, number])[]): number[] {
  const minutes: number[][] = [];
  for (const [atS, mebibytes] of samples) {
    const minute = Math.floor(atS / 60);
    minutes[minute] ??= [];
    minutes[minute].push(mebibytes);
  }
  return minutes.map((values) => Math.round(values.reduce((sum, value) => sum + value, 0) / values.length));
}

const folder = mkdtempSync(join(tmpdir(), 'veravox-bench-'));
const files = await makeSeedFiles(folder);
const server = await startTarget(folder);
try {
  const surroundings = await surroundingsOf(server, files);
  if (values.only !== undefined) await sendOne(Number(values.only));
  else await run();

  async function sendOne(index: number): Promise<void> {
    const input = makeInput(seed, index, surroundings, files);
    const outcome = await send(await Connection.open(server.port), input, boundMs);
    console.log(`${input.kind}: ${input.what}, ${input.bytes.length} bytes\n`);
    console.log(input.bytes.subarray(0, 3000).toString('latin1'));
    console.log(`\n${outcome.end} after ${Math.round(outcome.tookMs)} ms`);
    for (const { status, headers, body } of outcome.answers) console.log(status, headers, body.toString());
    console.log(problemIn(outcome, input, boundMs) ?? 'nothing is wrong with it');
  }

  async function run(): Promise<void> {
    let saidS = 0;
    const { tally, tookS, probes, residentMiB, arenaUsedBytesAfter } = await fuzz(
      server,
      surroundings,
      files,
      {
        seed,
        from: Number(values.from),
        count: Number(values.count),
        seconds: Number(values.seconds),
        inFlight: Number(values['in-flight']),
        boundMs,
        settleMs: 6000,
        isPaused: () => values['pause-file'] !== '' && existsSync(values['pause-file']),
        onFinding(finding, input) {
          console.log(`FINDING, seed ${seed}: ${JSON.stringify(finding)}`);
          if (input === undefined) return;
          mkdirSync(findingsDir, { recursive: true });
          writeFileSync(join(findingsDir, `${seed}-${finding.index}.bin`), input.bytes);
        },
        onProgress(tally, usage) {
          saidS++;
          if (saidS % progressEveryS !== 0) return;
          console.log(
            `${saidS} s: ${tally.inputs} inputs, ${Math.round(usage.residentMiB)} MiB, ${tally.findings.length} findings`,
          );
        },
      },
    );
    const secondHalf = residentMiB.samples.filter(([atS]) => atS > tookS / 2).map(([x, y]) => ({ x, y }));
    const random = new Random(seed, 0);
    const slope = slopeOf(secondHalf, 60, () => random.below(2 ** 30) / 2 ** 30);
    const perHour = (perS: number) => Number((perS * 3600).toFixed(1));
    const report = {
      machine: describeMachine(),
      seed,
      inputs: tally.inputs,
      tookS: Math.round(tookS),
      inputsPerS: Math.round(tally.inputs / tookS),
      findings: tally.findings,
      outcomes: tally.outcomes,
      tookMsInAll: tally.tookMs,
      errorCodes: tally.errorCodes,
      slowestMs: Math.round(tally.slowest.ms),
      slowestInput: tally.slowest.index,
      connectionsGivenUpByTheServer: tally.askedAgain,
      goodRequestsWithTheSameScore: tally.goodRequests,
      probes: { sent: probes.sent, slowestMs: Math.round(probes.slowestMs) },
      residentMiB: {
        before: Math.round(residentMiB.before),
        peak: Math.round(residentMiB.peak),
        after: Math.round(residentMiB.after),
        eachMinute: eachMinute(residentMiB.samples),
        slopePerHourInTheSecondHalf: {
          value: perHour(slope.perX),
          low: perHour(slope.low),
          high: perHour(slope.high),
        },
      },
      arenaUsedBytesAfter,
    };
    console.log(JSON.stringify(report, null, 2));
    writeFileSync(join(packageDir, 'bench/results/http-fuzz.json'), `${JSON.stringify(report, null, 2)}\n`);
    // Before that, threads and caches are still growing to their size.
    const isLongEnough = tookS > settledAfterS;
    const growsTooFast =
      isLongEnough && slope.low > 0 && slope.perX * 3600 > residentMiB.after * allowedGrowthPerHour;
    const passed = tally.findings.length === 0 && !growsTooFast;
    console.log(passed ? 'passed' : 'FAILED');
    process.exitCode = passed ? 0 : 1;
  }
} finally {
  await server.stop();
  rmSync(folder, { recursive: true });
}
