// SPDX-License-Identifier: Apache-2.0
//
// Mixed load for a long time at a rate that the machine can serve, with reloads of the models in between: does anything grow?
// Requests begin when due, even if earlier ones are still running, and none is sent twice. Passes when every answer was the
// expected one, but for a few refusals of a full server, the resident memory does not grow in the second half by more than
// the allowed share per hour, and the numbers of threads and open files come back.
//
//   npm run bench soak -- [--minutes 60] [--rate 15] [--reload-minutes 10] [--pause-file FILE]
//
// While the file of --pause-file exists no requests are sent; that time is counted and added. SIGINT ends the load early;
// the report then says how long it was.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { describeMachine } from '../../bench/support/machine.js';
import { metric, usageOf } from '../../bench/support/process-watch.js';
import { startServer } from '../../bench/support/server-process.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { Random } from './http-fuzz/random.js';
import { Client } from './soak/client.js';
import { makeLoad } from './soak/load.js';
import { makeRecordings } from './soak/recordings.js';
import { column, growthPerHour, type Sample, sampleNames, takeSample } from './soak/samples.js';
import { Tally } from './soak/tally.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '15' },
    'reload-minutes': { type: 'string', default: '10' },
    'pause-file': { type: 'string', default: '' },
  },
});
const durationS = Number(values.minutes) * 60;
const rate = Number(values.rate);
const reloadS = Number(values['reload-minutes']) * 60;
const sampleS = 10;
const progressS = 60;
const settleMs = 15_000;
const allowedGrowthPerHour = 0.05;
/** A moment at which the machine did other things. */
const allowedRefused = 0.05;
/** Extra threads and files allowed at the end: lazily started ones, and those of the log. */
const allowedMore = { threads: 4, openFiles: 8 };

const folder = mkdtempSync(join(tmpdir(), 'veravox-bench-'));
// From the start on: otherwise the server would be left running.
let isEndedEarly = false;
process.on('SIGINT', () => {
  isEndedEarly = true;
});
const recordings = makeRecordings(join(folder, 'recordings'));
const server = await startServer(join(folder, 'data'));
const client = new Client(server.port, server.apiKey);
let hasEnded: string | undefined;
void server.exited.then((how) => {
  hasEnded = how;
});

try {
  const tasks = await makeLoad(client, recordings);
  const choices = tasks.map((task) => [task.perThousand, task] as const);
  const random = new Random(1, 0);
  for (const { run } of tasks) await Promise.all(Array.from({ length: 10 }, (_, i) => run(i)));
  await delay(settleMs);
  const before = usageOf(server.pid);

  const tally = new Tally();
  const samples: Sample[] = [];
  const open = new Set<Promise<void>>();
  let mostOpen = 0;
  const startedMs = performance.now();
  let pausedS = 0;
  const elapsedS = (): number => (performance.now() - startedMs) / 1000 - pausedS;

  function begin(number: number): void {
    const { name, run } = random.weighted(choices);
    const request = run(number)
      .catch((error: Error) => ({ outcome: 'failed', problem: String(error) }))
      .then((result) => tally.add(elapsedS(), name, result))
      .finally(() => open.delete(request));
    open.add(request);
    mostOpen = Math.max(mostOpen, open.size);
  }

  let sent = 0;
  let reloads = 0;
  let nextSampleS = sampleS;
  while (elapsedS() < durationS && !isEndedEarly && hasEnded === undefined) {
    if (values['pause-file'] !== '' && existsSync(values['pause-file'])) {
      const pauseMs = performance.now();
      await delay(1000);
      pausedS += (performance.now() - pauseMs) / 1000;
      continue;
    }
    while (sent < elapsedS() * rate) begin(sent++);
    if (elapsedS() > (reloads + 1) * reloadS) {
      reloads++;
      process.kill(server.pid, 'SIGHUP');
    }
    if (elapsedS() > nextSampleS) {
      const latenciesMs = tally.recentMs;
      tally.recentMs = [];
      samples.push(await takeSample(elapsedS(), server, latenciesMs));
      if (nextSampleS % progressS === 0) {
        console.log(
          `${samples.at(-1)?.join(' ')}; ${tally.requests} requests, ${tally.refused} refused, ${tally.problemCount} problems`,
        );
      }
      nextSampleS += sampleS;
    }
    await delay(10);
  }
  const tookS = elapsedS();
  if (hasEnded !== undefined)
    throw new Error(`The server ended with ${hasEnded} after ${Math.round(tookS)} s.`);
  await Promise.all(open);
  client.close();
  await delay(settleMs);
  const after = usageOf(server.pid);

  const secondHalf = samples.filter(([seconds = 0]) => seconds > tookS / 2);
  const uniform = () => random.below(2 ** 30) / 2 ** 30;
  const usage = ({ residentMiB, threads, openFiles }: typeof before) => ({
    residentMiB: Math.round(residentMiB),
    threads,
    openFiles,
  });
  const range = (name: 'threads' | 'openFiles' | 'residentMiB') => [
    Math.min(...column(secondHalf, name)),
    Math.max(...column(secondHalf, name)),
  ];
  const growth = growthPerHour(secondHalf, 'residentMiB', uniform);
  const report = {
    machine: describeMachine(),
    minutes: Number((tookS / 60).toFixed(1)),
    pausedMinutes: Number((pausedS / 60).toFixed(1)),
    requestsPerS: rate,
    requests: tally.requests,
    mostAtOnce: mostOpen,
    reloads: {
      asked: reloads,
      done: await metric(server.port, 'veravox_reload_total'),
      modelSetsAfter: await metric(server.port, 'veravox_model_sets'),
    },
    refused: tally.refused,
    refusals: tally.refusals,
    problemCount: tally.problemCount,
    problems: tally.problems,
    requestsByName: tally.summary(),
    before: usage(before),
    after: usage(after),
    secondHalf: {
      residentMiB: range('residentMiB'),
      threads: range('threads'),
      openFiles: range('openFiles'),
      residentMiBPerHour: growth,
      heapMiBPerHour: growthPerHour(secondHalf, 'heapMiB', uniform),
    },
    arenaUsedBytesAfter: await metric(server.port, 'veravox_upload_arena_used_bytes'),
    sampleNames,
    samples: samples.map((sample) => sample.join(' ')),
  };
  const { samples: _, ...shown } = report;
  console.log(JSON.stringify(shown, null, 2));
  writeFileSync(join(packageDir, 'bench/results/soak.json'), `${JSON.stringify(report, null, 2)}\n`);
  const passed =
    tally.problemCount === 0 &&
    tally.refused <= tally.requests * allowedRefused &&
    // Growth that cannot be told from 0 does not count.
    (growth.low <= 0 || growth.value <= before.residentMiB * allowedGrowthPerHour) &&
    after.threads <= before.threads + allowedMore.threads &&
    after.openFiles <= before.openFiles + allowedMore.openFiles &&
    report.arenaUsedBytesAfter === 0;
  console.log(passed ? 'passed' : 'FAILED');
  process.exitCode = passed ? 0 : 1;
} finally {
  client.close();
  await server.stop();
  rmSync(folder, { recursive: true });
}
