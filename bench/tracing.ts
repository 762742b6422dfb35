// SPDX-License-Identifier: Apache-2.0
//
// What traces cost: CPU time per request and requests/s of servers without traces, with 1 % and with all of them, in turn. A tiny
// model leaves nearly all of the time to the rest of the server, so the shares are the largest that can occur.
//
//   npm run bench:tracing [-- --rounds 7 --seconds 3 --baseline OTHER_CHECKOUT/dist/cli/main.js]
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadAddon } from '../src/base/addon/addon.js';
import { packageDir } from '../src/base/config/package-dir.js';
import { writeTinyModels } from '../test/support/tiny-models.js';
import { monoWav } from '../test/support/wav.js';
import { describeMachine } from './machine.js';
import { startServer } from './server-process.js';
import { load } from './wrk.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '3' },
    baseline: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);

const TICKS_PER_S = 100;

/** Of all threads of a process until now. */
function cpuS(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S;
}

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] as number;

const rounded = (x: number): number => Number(x.toPrecision(4));

async function counter(port: number, series: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.split(' ')[1] ?? 0,
  );
}

const folder = mkdtempSync(join(tmpdir(), 'veravox-bench-'));
const collector = http.createServer((request, response) => {
  request.resume().on('end', () => response.end('{}'));
});
collector.listen(0, '127.0.0.1');
await once(collector, 'listening');
const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
const clip = readFileSync(join(packageDir, 'test/fixtures/human-lj-a.flac'));
const wav = monoWav(
  loadAddon()
    .decode(clip)
    .samples.subarray(0, 5 * 16_000),
  16_000,
);
const traced = (ratio: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
  OTEL_TRACES_SAMPLER_ARG: ratio,
});
const variants = [
  ...(values.baseline === undefined ? [] : [{ name: 'baseline', main: values.baseline, settings: {} }]),
  { name: 'off', settings: {} },
  { name: '1 %', settings: traced('0.01') },
  { name: '100 %', settings: traced('1') },
];
const modelsDir = writeTinyModels(mkdtempSync(join(folder, 'models-')), 'even');
const servers = await Promise.all(
  variants.map(async ({ name, settings, ...options }, i) => {
    const common = { VERAVOX_MODELS_DIR: modelsDir, VERAVOX_SCORING_THREADS: '1', VERAVOX_LOG_LEVEL: 'info' };
    const server = await startServer(join(folder, `data-${i}`), { ...common, ...settings }, options);
    return { name, server, cpuMs: [] as number[], requestsPerS: [] as number[], failed: 0 };
  }),
);
try {
  for (let round = -1; round < rounds; round++) {
    for (const row of servers) {
      const { port, pid, apiKey } = row.server;
      const beforeS = cpuS(pid);
      const result = await load({ port, apiKey, file: wav, connections: 8, durationS: seconds });
      // The first round warms up.
      if (round < 0) continue;
      row.cpuMs.push((1000 * (cpuS(pid) - beforeS)) / (result.requestsPerS * seconds));
      row.requestsPerS.push(result.requestsPerS);
      row.failed += result.failed;
    }
  }
  const first = servers[0];
  const results = await Promise.all(
    servers.map(async ({ name, server, cpuMs, requestsPerS, failed }) => {
      const shares = (own: readonly number[], others: readonly number[] = []) =>
        rounded(median(own.map((value, i) => value / (others[i] as number))));
      return {
        traces: name,
        cpuMsPerRequest: rounded(median(cpuMs)),
        cpuOfFirst: shares(cpuMs, first?.cpuMs),
        requestsPerS: rounded(median(requestsPerS)),
        requestsOfFirst: shares(requestsPerS, first?.requestsPerS),
        failed,
        spansExported: await counter(server.port, 'veravox_trace_spans_exported_total'),
        spansDropped: await counter(server.port, 'veravox_trace_spans_dropped_total{reason="queue_full"}'),
      };
    }),
  );
  console.table(results);
  const what = `5 s WAV, tiny model, 8 connections, ${rounds} rounds of ${seconds} s each; shares are medians of the rounds`;
  const report = { what, machine: describeMachine(), results };
  writeFileSync(join(packageDir, 'bench/results/tracing.json'), `${JSON.stringify(report, null, 2)}\n`);
} finally {
  await Promise.all(servers.map(({ server }) => server.stop()));
  collector.closeAllConnections();
  collector.close();
  rmSync(folder, { recursive: true });
}
