// SPDX-License-Identifier: Apache-2.0
//
// Concurrent streams in real time: the delay from the end of a window to its verdict, and whether the scores equal those of the
// same audio sent as a file. The streams begin at random moments of a window's length. Clients share the cores with the server.
//
//   npm run bench stream [-- --streams 200 --seconds 60 --piece-ms 40 --model apollo-4-2025-10-20]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { loadAddon } from '../src/base/addon/addon.js';
import { packageDir } from '../src/base/config/package-dir.js';
import { LARGE_FILE_MODEL } from '../src/base/contract/model-ids.js';
import type { Prediction } from '../src/base/contract/prediction.js';
import { StreamClient } from '../test/support/stream-client.js';
import { monoWav, repeated } from '../test/support/wav.js';
import { describeMachine } from './support/machine.js';
import { startServer } from './support/server-process.js';

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '60' },
    'piece-ms': { type: 'string', default: '40' },
    model: { type: 'string', default: LARGE_FILE_MODEL },
  },
});
const streams = Number(values.streams);
const seconds = Number(values.seconds);
const pieceMs = Number(values['piece-ms']);
const RATE_HZ = 16_000;
const WINDOW_MS = 5000;
const pieceBytes = (2 * RATE_HZ * pieceMs) / 1000;

const round = (value: number): number => Math.round(value * 10) / 10;
const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number;

/** Human and AI-generated speech in turn, starting elsewhere in each of the few different recordings. */
function recordings(count: number): Uint8Array[] {
  const fixtures = ['human-lj-a.flac', 'ai-wavenet-lj.flac', 'human-lj-b.flac'].map(
    (name) => loadAddon().decode(readFileSync(join(packageDir, 'test/fixtures', name))).samples,
  );
  return Array.from({ length: count }, (_, i) => {
    const speech = fixtures[i % fixtures.length] as Float32Array;
    const shifted = Float32Array.from(
      speech,
      (_value, at) => speech[(at + 7919 * i) % speech.length] as number,
    );
    return monoWav(repeated(shifted, RATE_HZ * seconds), RATE_HZ);
  });
}

interface Run {
  readonly scores: (readonly number[])[];
  readonly delaysMs: number[];
}

/** Sends a file at the pace of speech: each piece at the time at which its last sample would be spoken. */
async function stream(port: number, apiKey: string, wav: Uint8Array): Promise<Run> {
  await new Promise((resolve) => setTimeout(resolve, Math.random() * WINDOW_MS));
  const path = `/v1/stream?encoding=pcm16&sample_rate=${RATE_HZ}&model=${values.model}`;
  const client = await StreamClient.open(port, { path, headers: { 'x-api-key': apiKey } });
  const run: Run = { scores: [], delaysMs: [] };
  let beganMs = 0;
  client.onMessage = (message) => {
    if (message.type !== 'window') return;
    run.scores.push(message.scores);
    // The last window ends with the audio, and comes when the client ends the stream.
    if (message.end < seconds) run.delaysMs.push(performance.now() - beganMs - 1000 * message.end);
  };
  const audio = wav.subarray(44);
  beganMs = performance.now();
  for (let sent = 0; sent < audio.length; ) {
    const dueMs = beganMs + (sent / pieceBytes + 1) * pieceMs;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
    client.audio(audio.subarray(sent, sent + pieceBytes));
    sent += pieceBytes;
  }
  client.say({ type: 'end' });
  await client.finished;
  if (!client.messages.some(({ type }) => type === 'result'))
    throw new Error(`A stream failed: ${JSON.stringify(client.messages.at(-1))}`);
  return run;
}

/** Uses the command line, as the server does not offer some detectors for small files. */
function scoresOfFile(file: string): (readonly number[])[] {
  const args = [join(packageDir, 'dist/cli/main.js'), 'predict', '--json', '--model', values.model, file];
  const answer = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Prediction;
  return answer.segments.map((segment) => segment.scores);
}

const cpuSeconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (
    (Number(fields[11]) + Number(fields[12])) /
    Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
  );
};
const residentMiB = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

const dataDir = mkdtempSync(join(tmpdir(), 'veravox-bench-'));
const server = await startServer(dataDir, {
  VERAVOX_MAX_STREAMS: String(streams),
  VERAVOX_KEY_SHARE_PERCENT: '100',
  VERAVOX_MAX_CONNECTIONS_PER_ADDRESS: '0',
});
try {
  const files = recordings(6);
  const expected = files.map((wav) => {
    const file = join(dataDir, 'a.wav');
    writeFileSync(file, wav);
    return scoresOfFile(file);
  });
  const before = { cpuS: cpuSeconds(server.pid), rssMiB: residentMiB(server.pid) };
  const lag = monitorEventLoopDelay({ resolution: 5 });
  lag.enable();
  const beganMs = performance.now();
  let peakMiB = 0;
  const watch = setInterval(() => {
    peakMiB = Math.max(peakMiB, residentMiB(server.pid));
  }, 1000);
  const runs = await Promise.all(
    Array.from({ length: streams }, (_, i) =>
      stream(server.port, server.apiKey, files[i % files.length] as Uint8Array),
    ),
  );
  clearInterval(watch);
  const tookS = (performance.now() - beganMs) / 1000;
  const delaysMs = runs.flatMap((run) => run.delaysMs).sort((a, b) => a - b);
  const differing = runs.filter(
    (run, i) => JSON.stringify(run.scores) !== JSON.stringify(expected[i % files.length]),
  ).length;
  const result = {
    machine: describeMachine(),
    cores: availableParallelism(),
    model: values.model,
    streams,
    secondsOfAudio: seconds,
    pieceMs,
    windows: delaysMs.length,
    msFromEndOfWindowToVerdict: {
      p50: round(quantile(delaysMs, 0.5)),
      p95: round(quantile(delaysMs, 0.95)),
      p99: round(quantile(delaysMs, 0.99)),
      max: round(delaysMs.at(-1) as number),
    },
    // Delays of the clients' own thread and the server's main thread on a busy machine.
    clientLoopDelayP99Ms: round(lag.percentile(99) / 1e6),
    serverLoopLagP99Ms: round(1000 * (await metric('nodejs_eventloop_lag_p99_seconds'))),
    loadAverage1Min: round(loadavg()[0] as number),
    streamsWithOtherScoresThanTheFile: differing,
    coresOfTheServer: round((10 * (cpuSeconds(server.pid) - before.cpuS)) / tookS) / 10,
    kiBPerStream: Math.round((1024 * (peakMiB - before.rssMiB)) / streams),
  };
  const text = JSON.stringify(result, undefined, 2);
  console.log(text);
  writeFileSync(join(packageDir, 'bench/results/stream.json'), `${text}\n`);
} finally {
  await server.stop();
  rmSync(dataDir, { recursive: true });
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]);
}
