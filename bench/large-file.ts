// SPDX-License-Identifier: Apache-2.0
//
// One file of 100 MiB and several hours through /v1/predict/large-file: its duration, its memory beyond the upload, and
// its effect on other clients' short requests. Passes when the memory stays within the limit and no short request failed.
//
//   npm run bench large-file [-- MEBIBYTES]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageDir } from '../src/base/config/package-dir.js';
import { LARGE_FILE_MODEL, largeFileModels } from '../src/base/contract/model-ids.js';
import { formBody, formType } from './support/form-body.js';
import { describeMachine } from './support/machine.js';
import { startServer } from './support/server-process.js';

const allowedBesideUploadMiB = 150;
const fileMiB = Number(process.argv[2] ?? 100);
const kilobitsPerS = 40;
const partS = 600;

const folder = mkdtempSync(join(tmpdir(), 'veravox-bench-'));

/**
 * An MP3 of that size: ten minutes of alternating clips, over and over, without a header that would state another
 * length.
 */
function makeFile(bytes: number): Buffer {
  const list = join(folder, 'clips.txt');
  const clips = ['human-lj-a', 'ai-kokoro', 'human-vctk-p237', 'ai-wavenet-lj', 'human-lj-b'];
  const lines = clips.map((name) => `file '${join(packageDir, 'test/fixtures', `${name}.flac`)}'\n`);
  writeFileSync(list, lines.join('').repeat(Math.ceil(partS / clips.length)));
  const part = execFileSync(
    'ffmpeg',
    [
      ...[
        '-v',
        'error',
        '-f',
        'concat',
        '-safe',
        '0',
        '-i',
        list,
        '-t',
        String(partS),
        '-ar',
        '16000',
        '-ac',
        '1',
      ],
      ...[
        '-b:a',
        `${kilobitsPerS}k`,
        '-reservoir',
        '0',
        '-write_xing',
        '0',
        '-id3v2_version',
        '0',
        '-f',
        'mp3',
        '-',
      ],
    ],
    { maxBuffer: 64 * 2 ** 20 },
  );
  return Buffer.alloc(bytes, part);
}

/** The shipped models; if the large-file model is missing, the first detector under its id. */
function modelsDir(): string {
  const shipped = join(packageDir, 'models');
  const manifest = JSON.parse(readFileSync(join(shipped, 'manifest.json'), 'utf8'));
  if (largeFileModels(manifest.models).length > 0) return shipped;
  manifest.models.push({ ...manifest.models[0], id: LARGE_FILE_MODEL, aliases: [] });
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
  symlinkSync(join(shipped, manifest.models[0].file), join(folder, manifest.models[0].file));
  return folder;
}

const models = modelsDir();
const { port, apiKey, pid, stop } = await startServer(join(folder, 'data'), { VERAVOX_MODELS_DIR: models });

function memoryMiB(what: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
}

/** CPU time of all threads since the start. */
function cpuS(): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  // utime and stime, in ticks of 10 ms.
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly timing: string;
}

// Not fetch, which gives up after five minutes without an answer.
function post(path: string, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': apiKey, 'content-type': formType, 'content-length': body.length };
    const request = http.request({ port, path, method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          text,
          timing: String(response.headers['server-timing']),
        }),
      );
    });
    request.on('error', reject);
    request.end(body);
  });
}

const rounded = (value: number, decimals = 1): number => Number(value.toFixed(decimals));

try {
  const body = formBody(makeFile(fileMiB * 2 ** 20));
  const short = formBody(readFileSync(join(packageDir, 'test/fixtures/human-lj-a.mp3')));
  for (let i = 0; i < 20; i++) await post('/v1/predict', short);
  const idleMiB = memoryMiB('VmRSS');

  const startedMs = performance.now();
  const startedCpuS = cpuS();
  const large = post('/v1/predict/large-file', body);
  let running = true;
  const shortMs: number[] = [];
  let shortFailed = 0;
  const others = (async () => {
    while (running) {
      const beganMs = performance.now();
      if ((await post('/v1/predict', short)).status !== 200) shortFailed++;
      shortMs.push(performance.now() - beganMs);
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  })();
  const { status, text, timing } = await large;
  const tookS = (performance.now() - startedMs) / 1000;
  const usedCpuS = cpuS() - startedCpuS;
  running = false;
  await others;
  const peakMiB = memoryMiB('VmHWM');
  if (status !== 200) throw new Error(`${status}: ${text}`);
  const { audio_duration: audioS, segments, model } = JSON.parse(text);
  shortMs.sort((a, b) => a - b);
  const besideUploadMiB = peakMiB - idleMiB - body.length / 2 ** 20;
  const report = {
    machine: describeMachine(),
    file: `MP3, ${kilobitsPerS} kbit/s, ${fileMiB} MiB`,
    audioHours: rounded(audioS / 3600, 2),
    windowsScored: segments.length,
    model,
    tookS: rounded(tookS),
    cpuS: rounded(usedCpuS),
    timesRealTime: Math.round(audioS / tookS),
    serverTiming: timing,
    memoryMiB: {
      idle: rounded(idleMiB),
      peak: rounded(peakMiB),
      aboveIdleBesideUpload: rounded(besideUploadMiB),
      allowed: allowedBesideUploadMiB,
    },
    shortRequestsMeanwhile: {
      answered: shortMs.length,
      failed: shortFailed,
      medianMs: rounded(shortMs[Math.floor(shortMs.length / 2)] ?? 0),
      slowestMs: rounded(shortMs.at(-1) ?? 0),
    },
  };
  console.log(JSON.stringify(report, null, 2));
  writeFileSync(join(packageDir, 'bench/results/large-file.json'), `${JSON.stringify(report, null, 2)}\n`);
  const passed = besideUploadMiB <= allowedBesideUploadMiB && shortFailed === 0;
  console.log(passed ? 'passed' : 'FAILED');
  process.exitCode = passed ? 0 : 1;
} finally {
  await stop();
  rmSync(folder, { recursive: true });
}
