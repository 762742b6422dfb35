// SPDX-License-Identifier: Apache-2.0
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Prediction } from '../base/contract/prediction.js';
import { messageOf } from '../base/errors/message-of.js';
import { readNamed } from '../base/errors/read-named.js';
import { shown } from '../base/errors/shown-text.js';
import { percentile } from '../base/proportion.js';
import { numberThat } from './arguments.js';
import { Load, type LoadFigures } from './bench-load.js';
import { print, printJson, progressOutput } from './output.js';
import { noiseRecording } from './privacy/noise-recording.js';
import { readStandardInput, STANDARD_INPUT } from './standard-input.js';
import { TerminalLine } from './terminal-line.js';
import { textTable } from './text-table.js';

interface BenchOptions {
  readonly keyFile: string;
  readonly model?: string;
  readonly connections: readonly number[];
  readonly seconds: number;
  readonly json?: true;
}

interface Recording {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly fields?: Readonly<Record<string, string>>;
}

/** A line of the result. `connections` or `rate` is the load. */
interface Row {
  readonly recording: string;
  readonly audio_duration: number;
  readonly model: string;
  readonly connections?: number;
  readonly rate?: number;
  readonly requests_per_s: number;
  /** Seconds of audio per second. */
  readonly audio_per_s: number;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly p99_ms: number | null;
  readonly refused: number;
  readonly failed: number;
}

const NOISE_S = [5, 15, 60];
/** Of the best rate in a closed loop. */
const OPEN_LOOP_SHARES = [0.5, 0.8];
const WARM_UP_MS = 1000;

export function addBenchCommand(program: Command): void {
  program
    .command('bench')
    .argument('<url>', 'the server, such as http://127.0.0.1:8080')
    .argument('[file...]', `recordings to send (default: noise of ${NOISE_S.join(', ')} s)`)
    .description(
      'Measure a running server: predictions per second and their latency, with more and more connections.',
    )
    .requiredOption('--key-file <file>', 'a file with an API key, or - for standard input')
    .option('--model <id>', 'the model to ask for (default: the default model of the server)')
    .addOption(
      new Option('--connections <list>', 'how many at once, one number after the other')
        .argParser(parseConnections)
        .default([1, 4, 16, 64], '1,4,16,64'),
    )
    .option(
      '--seconds <number>',
      'how long each load lasts',
      numberThat((value) => value > 0 && value <= 3600, 'a number of seconds up to 3600'),
      10,
    )
    .option('--json', 'one line of JSON per load')
    .action(bench);
}

async function bench(server: string, files: string[], options: BenchOptions): Promise<void> {
  const url = endpointOf(server);
  const key =
    options.keyFile === STANDARD_INPUT ? await readStandardInput() : await readNamed(options.keyFile);
  const headers = { 'x-api-key': Buffer.from(key).toString().trim() };
  for (const recording of files.length > 0 ? await readAll(files) : NOISE_S.map(noiseOf)) {
    const { type, body } = await formOf(recording, options.model);
    const load = new Load({ url, headers: { ...headers, 'content-type': type }, body });
    try {
      const rows = await measure(load, recording.name, options);
      if (!options.json) print(shown`${recording.name}, ${rows[0]?.model ?? ''}\n${tableOf(rows)}\n`);
    } finally {
      load.close();
    }
  }
}

async function measure(load: Load, recording: string, options: BenchOptions): Promise<Row[]> {
  const { model, audio_duration } = await firstAnswer(load);
  const { connections, seconds } = options;
  const rows: Row[] = [];
  let best = 0;
  const step = async (of: { connections: number } | { rate: number }): Promise<void> => {
    const line = new TerminalLine(progressOutput);
    const timer = setInterval(() => line.draw(() => shown`${recording}: ${describe(of)}`), 1000);
    const figures = await ('rate' in of
      ? load.openLoop(of.rate, seconds * 1000)
      : load.closedLoop(of.connections, seconds * 1000));
    if ('connections' in of) best = Math.max(best, figures.requestsPerS);
    const row = { recording, audio_duration, model, ...of, ...numbersOf(figures, audio_duration) };
    rows.push(row);
    clearInterval(timer);
    line.clear();
    if (options.json) printJson(row);
  };
  await load.closedLoop(Math.max(...connections), WARM_UP_MS);
  for (const count of connections) await step({ connections: count });
  if (best === 0) return rows;
  for (const share of OPEN_LOOP_SHARES) await step({ rate: threeDigits(share * best) });
  return rows;
}

/** @throws what the server refuses, in its words */
async function firstAnswer(load: Load): Promise<Prediction> {
  const { status, body } = await load.send().catch((error: unknown) => {
    throw new Error(`The server cannot be reached: ${messageOf(error)}`);
  });
  if (status !== 200) throw new Error(`The server answered ${status}: ${body.toString().slice(0, 1000)}`);
  try {
    return JSON.parse(body.toString()) as Prediction;
  } catch {
    throw new Error('The answer is not JSON. Is this the address of a veravox server?');
  }
}

function numbersOf({ requestsPerS, answeredMs, refused, failed }: LoadFigures, durationS: number) {
  const at = (share: number): number | null => {
    const value = percentile(answeredMs, share);
    return value === undefined ? null : rounded(value);
  };
  return {
    requests_per_s: threeDigits(requestsPerS),
    audio_per_s: threeDigits(requestsPerS * durationS),
    p50_ms: at(0.5),
    p95_ms: at(0.95),
    p99_ms: at(0.99),
    refused,
    failed,
  };
}

const rounded = (value: number): number => Number(value.toFixed(1));
const threeDigits = (value: number): number => Number(value.toPrecision(3));

const describe = (of: { readonly connections?: number; readonly rate?: number }): string =>
  of.rate === undefined ? `${of.connections} at once` : `${of.rate} per second`;

function tableOf(rows: readonly Row[]) {
  const headings = [
    'load',
    '>requests/s',
    '>audio s/s',
    '>p50 ms',
    '>p95 ms',
    '>p99 ms',
    '>refused',
    '>failed',
  ];
  return textTable(
    headings,
    rows.map((row) => [
      describe(row),
      ...[row.requests_per_s, row.audio_per_s, row.p50_ms, row.p95_ms, row.p99_ms].map((value) =>
        value === null ? '-' : value.toFixed(1),
      ),
      `${row.refused}`,
      `${row.failed}`,
    ]),
  );
}

/** Every window is scored, although nobody speaks. */
const noiseOf = (durationS: number): Recording => ({
  name: `noise of ${durationS} s`,
  bytes: noiseRecording(durationS),
  fields: { silence_threshold: '100' },
});

const readAll = (files: readonly string[]): Promise<Recording[]> =>
  Promise.all(files.map(async (file) => ({ name: file, bytes: Uint8Array.from(await readNamed(file)) })));

async function formOf({ name, bytes, fields = {} }: Recording, model: string | undefined) {
  const form = new FormData();
  for (const [field, value] of Object.entries({ ...fields, ...(model === undefined ? {} : { model }) })) {
    form.append(field, value);
  }
  form.append('file', new Blob([bytes]), name);
  const response = new Response(form);
  const type = response.headers.get('content-type') ?? '';
  return { type, body: new Uint8Array(await response.arrayBuffer()) };
}

function endpointOf(server: string): URL {
  if (!URL.canParse(server) || !/^https?:/.test(server)) {
    throw new Error(`Expected an address such as http://127.0.0.1:8080 but received ${server}.`);
  }
  return new URL('v1/predict', server.endsWith('/') ? server : `${server}/`);
}

function parseConnections(given: string): number[] {
  const counts = given.split(',').map(Number);
  if (counts.every((count) => Number.isInteger(count) && count >= 1 && count <= 1024)) return counts;
  throw new InvalidArgumentError(
    `Expected whole numbers from 1 to 1024, separated by commas, but received ${given}.`,
  );
}
