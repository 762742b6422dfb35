// SPDX-License-Identifier: Apache-2.0
//
// Recordings of 1.2 GB of WAV (10.4 hours) and 300 MB of FLAC behind links, read in ranges: their duration, the growth of
// the process beyond its model, and the bytes read by a second process that continues at the middle. Passes when the memory
// stays within the limit and the continued results are those of one process.
//
//   npm run bench recordings
import { fork } from 'node:child_process';
import { mkdtempSync, openSync, readSync, rmSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type {
  RecordingCursor,
  RecordingProgress,
  RecordingStep,
} from '../src/analysis/analyser/recording.js';
import { startPipeline } from '../src/analysis/pipeline/pipeline.js';
import { RunningVerdict, type VerdictSums } from '../src/analysis/verdict/verdict.js';
import { surroundings } from '../src/api/fetch/acceptable-addresses.js';
import { LinkSource } from '../src/api/fetch/link-source.js';
import { packageDir } from '../src/base/config/package-dir.js';
import { LARGE_FILE_MODEL } from '../src/base/contract/model-ids.js';
import { speech, WAV_HEADER_BYTES, wavHeader, writeFlac } from './support/long-recordings.js';
import { describeMachine } from './support/machine.js';

const allowedMiB = 64;
const wavBytes = 1.2e9;
const flacBytes = 300e6;

/** A separate process, so that its memory does not count. The WAV file is generated per requested range. */
function serve(flacFile: string): void {
  const header = wavHeader(wavBytes);
  const audio = speech();
  const flac = openSync(flacFile, 'r');
  const sizes: Record<string, number> = { '/a.wav': wavBytes, '/a.flac': statSync(flacFile).size };
  const read = (url: string, first: number, length: number): Buffer => {
    const bytes = Buffer.alloc(length);
    if (url === '/a.flac') {
      readSync(flac, bytes, 0, length, first);
      return bytes;
    }
    for (let done = 0; done < length; ) {
      const at = first + done;
      const from = at < WAV_HEADER_BYTES ? header : audio;
      const start = at < WAV_HEADER_BYTES ? at : (at - WAV_HEADER_BYTES) % audio.length;
      done += from.copy(bytes, done, start);
    }
    return bytes;
  };
  const server = http.createServer(({ url = '', headers }, response) => {
    const [, first = '', last = ''] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    const bytes = read(url, Number(first), Number(last) - Number(first) + 1);
    response
      .writeHead(206, {
        'content-range': `bytes ${first}-${last}/${sizes[url]}`,
        'content-length': bytes.length,
        etag: '"1"',
      })
      .end(bytes);
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port));
  process.on('disconnect', () => process.exit());
}

const MIB = 2 ** 20;
const rounded = (value: number, digits = 1): number => Number(value.toFixed(digits));

async function measure(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'veravox-bench-'));
  const flacFile = join(folder, 'a.flac');
  writeFlac(flacFile, flacBytes);
  const server = fork(fileURLToPath(import.meta.url), ['serve', flacFile]);
  const port = await new Promise<number>((resolve) => server.once('message', resolve));
  const pipeline = await startPipeline(
    {
      modelsDir: join(packageDir, 'models'),
      device: 'cpu',
      prepareThreads: 1,
      scoringThreads: 2,
      maxBatchWindows: 8,
      batchWaitMs: 0,
      queueTimeoutMs: 10_000,
      analysisTimeoutMs: 10_000,
    },
    new SharedArrayBuffer(4096),
  );
  const model = LARGE_FILE_MODEL;
  const { signal } = new AbortController();

  const run = async (name: string, cursor?: RecordingCursor, sums?: VerdictSums) => {
    const target = { url: new URL(`http://127.0.0.1:${port}/${name}`), isStorage: true };
    const timeouts = { stallTimeoutMs: 60_000, totalTimeoutMs: 60_000 };
    const source = await LinkSource.open(target, { surroundings, timeouts }, signal);
    let ranges = 0;
    let readBytes = 0;
    const counted = {
      bytes: source.bytes,
      identity: source.identity,
      close: () => source.close(),
      read(into: Uint8Array, offset: number, stop: AbortSignal) {
        ranges++;
        readBytes += into.length;
        return source.read(into, offset, stop);
      },
    };
    const verdict = new RunningVerdict(0.5, sums);
    let middle: { cursor: RecordingCursor; sums: VerdictSums } | undefined;
    let progress = 0;
    const onProgress = ({ fileProgress }: RecordingProgress): void => {
      progress = fileProgress;
    };
    let last: RecordingStep | undefined;
    const before = process.memoryUsage().rss;
    let peak = before;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 50);
    const beginMs = performance.now();
    const cpu = process.cpuUsage();
    let firstStepMs = 0;
    const request = { source: counted, model, signal, onProgress, timeLimitMs: 3.6e6 };
    const limits = { silenceThresholdPercent: 80, minDurationS: 1, maxDurationS: 86_400 };
    for await (const step of pipeline.analyseRecording({ ...request, ...limits, cursor })) {
      firstStepMs ||= performance.now() - beginMs;
      for (const window of step.windows) verdict.add(window);
      if (!step.isLast && progress > 0.5) middle ??= { cursor: step.cursor, sums: verdict.sums };
      last = step;
    }
    clearInterval(watch);
    await source.close();
    if (!last?.isLast) throw new Error('The last step is missing.');
    const tookS = (performance.now() - beginMs) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    const audioHours = last.summary.durationS / 3600;
    const figures = {
      file: name,
      megabytes: rounded(source.bytes / 1e6),
      audioHours: rounded(audioHours, 2),
      windowsScored: verdict.sums.windows,
      tookS: rounded(tookS),
      cpuS: rounded((user + system) / 1e6),
      secondsPerHourOfAudio: rounded(tookS / audioHours, 2),
      secondsToFirstStep: rounded(firstStepMs / 1000, 2),
      ranges,
      readMegabytes: rounded(readBytes / 1e6),
      memoryGrowthMiB: rounded((peak - before) / MIB),
    };
    return { figures, middle, verdict: verdict.finish(last.summary, 80) };
  };

  const results = [];
  let isSame = true;
  for (const name of ['a.wav', 'a.flac']) {
    const whole = await run(name);
    const saved = whole.middle;
    const rest = await run(name, saved?.cursor, saved?.sums);
    isSame &&= JSON.stringify(rest.verdict) === JSON.stringify(whole.verdict);
    const { secondsToFirstStep, ranges, readMegabytes, tookS } = rest.figures;
    const continuedAtS = rounded(saved?.cursor.audioS ?? 0);
    results.push({
      ...whole.figures,
      verdict: whole.verdict,
      continued: { atS: continuedAtS, tookS, secondsToFirstStep, ranges, readMegabytes },
    });
  }
  await pipeline.close();
  server.disconnect();
  rmSync(folder, { recursive: true });
  const growth = Math.max(...results.map(({ memoryGrowthMiB }) => memoryGrowthMiB));
  const passed = isSame && growth <= allowedMiB;
  const report = { machine: describeMachine(), model, allowedGrowthMiB: allowedMiB, isSame, results };
  const text = `${JSON.stringify(report, null, 2)}\n`;
  writeFileSync(join(packageDir, 'bench/results/recordings.json'), text);
  process.stdout.write(text);
  return passed;
}

if (process.argv[2] === 'serve') serve(process.argv[3] ?? '');
else process.exitCode = (await measure()) ? 0 : 1;
