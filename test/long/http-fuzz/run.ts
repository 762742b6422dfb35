// SPDX-License-Identifier: Apache-2.0
import { setTimeout as delay } from 'node:timers/promises';
import { metric, type Usage, usageOf } from '../../../bench/support/process-watch.js';
import type { ServerProcess } from '../../../bench/support/server-process.js';
import { problemOf } from './answer-check.js';
import { Connection, type Outcome } from './connection.js';
import { GoodRequests } from './good-requests.js';
import type { Input, Surroundings } from './input.js';
import { makeInput } from './input-maker.js';
import { watchLiveness } from './liveness.js';
import type { SeedFiles } from './seed-files.js';
import { type Finding, Tally } from './tally.js';

export interface FuzzOptions {
  readonly seed: number;
  /** Number of the first input. */
  readonly from: number;
  readonly count: number;
  readonly seconds: number;
  readonly inFlight: number;
  /** Wait before the final memory measurement: the arena returns its pages after some idle time. */
  readonly settleMs: number;
  /** A slower answer is a finding. */
  readonly boundMs: number;
  /** Polled now and then: inputs pause while it is true. */
  readonly isPaused?: () => boolean;
  readonly onFinding: (finding: Finding, input: Input | undefined) => void;
  readonly onProgress?: (tally: Tally, usage: Usage) => void;
}

export interface FuzzResult {
  readonly tally: Tally;
  readonly tookS: number;
  readonly probes: { readonly sent: number; readonly slowestMs: number };
  readonly residentMiB: {
    readonly before: number;
    readonly peak: number;
    readonly after: number;
    /** [seconds since the start, MiB] */
    readonly samples: readonly (readonly [number, number])[];
  };
  readonly arenaUsedBytesAfter: number | undefined;
}

/** How long an input that is not sound HTTP may go without an answer: the server may be waiting for the rest. */
const quietMs = 250;
const inputsPerGoodRequest = 40;
const sampleMs = 1000;
const maxFindings = 50;
/** How long broken-off uploads may still hold memory. */
const releaseMs = 15_000;

/** Sends the inputs, several at once, and watches their effect on the server. */
export async function fuzz(
  server: ServerProcess,
  surroundings: Surroundings,
  files: SeedFiles,
  options: FuzzOptions,
): Promise<FuzzResult> {
  const { seed, from, count, inFlight, boundMs } = options;
  const tally = new Tally();
  const inWork = new Set<number>();
  let hasEnded: string | undefined;
  void server.exited.then((how) => {
    hasEnded = how;
  });
  const report = (index: number, what: string, problem: string, input?: Input): void => {
    const finding = { index, kind: input?.kind ?? 'server', what, problem };
    tally.findings.push(finding);
    options.onFinding(finding, input);
  };

  const good = await GoodRequests.begin(server.port, surroundings, boundMs);
  const before = usageOf(server.pid);
  const startedMs = performance.now();
  const samples: [number, number][] = [];
  let pids = before.pids.join();
  const sampling = setInterval(() => {
    if (hasEnded !== undefined) return;
    const usage = usageOf(server.pid);
    samples.push([(performance.now() - startedMs) / 1000, usage.residentMiB]);
    if (usage.pids.join() !== pids) report(next, 'processes', `${pids} became ${usage.pids}`);
    pids = usage.pids.join();
    isPaused = options.isPaused?.() ?? false;
    options.onProgress?.(tally, usage);
  }, sampleMs);
  let isPaused = false;
  const liveness = watchLiveness(server.port);

  let next = from;
  const isOver = (): boolean =>
    next >= from + count ||
    hasEnded !== undefined ||
    tally.findings.length >= maxFindings ||
    performance.now() - startedMs > options.seconds * 1000;

  async function worker(): Promise<void> {
    let kept: Connection | undefined;
    while (!isOver()) {
      if (isPaused) {
        await delay(sampleMs);
        continue;
      }
      const index = next++;
      const input = makeInput(seed, index, surroundings, files);
      inWork.add(index);
      try {
        // Bytes that are not sound HTTP say nothing about the requests behind them.
        const connection = input.isHttp && kept?.isOpen ? kept : await Connection.open(server.port);
        let outcome = await send(connection, input, boundMs);
        if (outcome.end === 'closed' && input.isHttp && connection === kept) {
          tally.askedAgain++;
          kept = await Connection.open(server.port);
          outcome = await send(kept, input, boundMs);
        } else if (input.isHttp && connection.isOpen) {
          kept = connection;
        }
        if (hasEnded !== undefined) break;
        tally.count(index, input, outcome);
        const problem = problemIn(outcome, input, boundMs);
        if (problem !== undefined) report(index, input.what, problem, input);
        if (index % inputsPerGoodRequest === 0) {
          tally.goodRequests++;
          const wrong = await good.ask(index, kept);
          if (wrong !== undefined) report(index, 'a good request after it', wrong, input);
        }
      } catch (error) {
        // A connection is refused slightly before the end of the process is known.
        await delay(1000);
        if (hasEnded === undefined) report(index, input.what, String(error), input);
      }
      if (hasEnded === undefined) inWork.delete(index);
    }
    kept?.close();
  }

  await Promise.all(Array.from({ length: inFlight }, worker));
  clearInterval(sampling);
  const tookS = (performance.now() - startedMs) / 1000;
  const probes = await liveness.stop();
  if (probes.failed > 0)
    report(next, 'probes', `${probes.failed} of ${probes.sent} were not answered with 200`);
  if (hasEnded !== undefined) {
    report(next, 'the server ended', `${hasEnded}; inputs in flight: ${[...inWork].join(' ')}`);
    throw new Error(`The server ended with ${hasEnded}; inputs in flight: ${[...inWork].join(' ')}.`);
  }
  const arenaUsedBytesAfter = await arenaUsedInTheEnd(server.port);
  await delay(options.settleMs);
  const residentMiB = {
    before: before.residentMiB,
    peak: samples.reduce((peak, [, mebibytes]) => Math.max(peak, mebibytes), before.residentMiB),
    after: usageOf(server.pid).residentMiB,
    samples,
  };
  if (arenaUsedBytesAfter !== 0)
    report(next, 'upload memory', `${arenaUsedBytesAfter} bytes are still in use`);
  return { tally, tookS, probes, residentMiB, arenaUsedBytesAfter };
}

async function arenaUsedInTheEnd(port: number): Promise<number | undefined> {
  const deadlineMs = performance.now() + releaseMs;
  for (;;) {
    const bytes = await metric(port, 'veravox_upload_arena_used_bytes');
    if (bytes === 0 || performance.now() > deadlineMs) return bytes;
    await delay(100);
  }
}

export function send(connection: Connection, input: Input, boundMs: number): Promise<Outcome> {
  const { bytes, breaksOffAfter, toHead, isHttp } = input;
  return connection.exchange({
    bytes,
    ...(breaksOffAfter !== undefined && { breaksOffAfter }),
    ...(toHead !== undefined && { toHead }),
    wantsOne: isHttp,
    timeoutMs: isHttp ? boundMs : quietMs,
  });
}

export function problemIn(outcome: Outcome, input: Input, boundMs: number): string | undefined {
  if (outcome.problem !== undefined) return outcome.problem;
  if (input.isHttp && outcome.end === 'silent') return `no answer within ${boundMs} ms`;
  if (input.isHttp && outcome.end === 'closed') return 'the connection was closed without an answer';
  for (const answer of outcome.answers) {
    const problem = problemOf(answer, input);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
