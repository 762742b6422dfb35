// SPDX-License-Identifier: Apache-2.0
//
// Time per 5 s segment of every stage, on one thread: decoding per format, resampling per rate, voice activity,
// features per recipe, the model; and of whole requests to a running server, one after another. Prints a table and writes bench/results/stages.json.
//
//   npm run bench stages
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bench } from 'tinybench';
import { inputTextOf, recipeTextOf } from '../src/analysis/models/input-text.js';
import type { SpectrogramRecipe } from '../src/analysis/models/manifest.js';
import { loadManifest } from '../src/analysis/models/model-file.js';
import { ModelSession } from '../src/analysis/scoring/model-session.js';
import { loadAddon } from '../src/base/addon/addon.js';
import { packageDir } from '../src/base/config/package-dir.js';
import { logMelRecipe } from '../test/support/log-mel-recipe.js';
import { formBody, formType } from './support/form-body.js';
import { describeMachine } from './support/machine.js';
import { type ServerProcess, startServer } from './support/server-process.js';

const clip = join(packageDir, 'test/fixtures/human-lj-a.flac');
const seconds = 5;

const encodings: Readonly<Record<string, readonly string[]>> = {
  'wav 16 kHz mono': ['-ar', '16000', '-ac', '1', 'x.wav'],
  'wav 44.1 kHz stereo': ['-ar', '44100', '-ac', '2', 'x44.wav'],
  'flac 44.1 kHz stereo': ['-ar', '44100', '-ac', '2', 'x.flac'],
  'mp3 44.1 kHz stereo 128k': ['-ar', '44100', '-ac', '2', '-b:a', '128k', 'x.mp3'],
  'aac (adts) 44.1 kHz stereo 128k': ['-ar', '44100', '-ac', '2', '-b:a', '128k', 'x.aac'],
  'm4a 44.1 kHz stereo 128k': ['-ar', '44100', '-ac', '2', '-b:a', '128k', 'x.m4a'],
  'ogg vorbis 44.1 kHz stereo': ['-ar', '44100', '-ac', '2', '-c:a', 'libvorbis', 'x.ogg'],
  'ogg opus 48 kHz stereo 64k': ['-ar', '48000', '-ac', '2', '-c:a', 'libopus', '-b:a', '64k', 'xo.ogg'],
};

const inputRatesHz = [8000, 22050, 24000, 32000, 44100, 48000, 96000];

const recipes: Readonly<Record<string, SpectrogramRecipe>> = {
  'log-mel 80, 25/10 ms, 512': logMelRecipe,
  'kaldi fbank 80': {
    ...logMelRecipe,
    window: 'povey',
    pre_emphasis: 0.97,
    remove_dc_offset: true,
    input_gain: 32768,
    triangles_on_mel_axis: true,
    log_floor: 1.1920929e-7,
    layout: 'frames_bands',
  },
  'log-linear 257': { ...logMelRecipe, scale: 'linear', bands: 257 },
  'slaney mel 40, unlogged': {
    ...logMelRecipe,
    bands: 40,
    mel_formula: 'slaney',
    mel_norm: 'slaney',
    log: 'none',
  },
};

function post({ port, apiKey }: ServerProcess, body: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': formType, 'content-length': body.length, 'x-api-key': apiKey };
    const options = { port, host: '127.0.0.1', path: '/v1/predict', method: 'POST', headers, agent };
    request(options, (response) => {
      response.resume();
      response.on('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`A request was answered with ${response.statusCode}.`));
      });
    })
      .on('error', reject)
      .end(body);
  });
}

function percentile(sorted: readonly number[], p: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor((p / 100) * sorted.length))] as number;
}

const addon = loadAddon();
const folder = mkdtempSync(join(tmpdir(), 'veravox-bench-'));
const bench = new Bench({ time: 700, warmupTime: 100, retainSamples: true });
const sessions: ModelSession[] = [];
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let server: ServerProcess | undefined;
try {
  for (const [name, output] of Object.entries(encodings)) {
    const path = join(folder, output.at(-1) as string);
    execFileSync('ffmpeg', [
      '-v',
      'error',
      '-y',
      '-t',
      String(seconds),
      '-i',
      clip,
      ...output.slice(0, -1),
      path,
    ]);
    const bytes = readFileSync(path);
    bench.add(`decode ${name}`, () => void addon.decode(bytes));
  }

  const { samples } = addon.decode(readFileSync(clip));
  const segment = samples.slice(0, seconds * 16000);
  for (const rateHz of inputRatesHz) {
    const input = new addon.Resampler(16000, rateHz).convert(segment);
    const resampler = new addon.Resampler(rateHz, 16000);
    bench.add(`resample ${rateHz} Hz to 16 kHz`, () => void resampler.convert(input));
  }

  const detector = new addon.VoiceActivityDetector();
  bench.add('voice activity', () => void detector.detect(segment));
  for (const [name, recipe] of Object.entries(recipes)) {
    const extractor = new addon.FeatureExtractor(recipeTextOf(recipe));
    bench.add(`features ${name}`, () => void extractor.compute(segment));
  }

  const modelsDir = join(packageDir, 'models');
  for (const model of (await loadManifest(modelsDir)).models) {
    const preparer = new addon.Preparer(inputTextOf(model));
    const wav = readFileSync(join(folder, 'x.wav'));
    const output = new Float32Array(preparer.inputSize);
    const stopFlag = new Int32Array(1);
    const options = { minDurationS: 1, maxDurationS: 600, silenceThresholdPercent: 100, timeLimitMs: 60_000 };
    bench.add(`prepare (wav 16 kHz, decode to features of ${model.id})`, () => {
      preparer.open(wav, options, stopFlag);
      while (preparer.next(output));
      preparer.close();
    });
    const session = await ModelSession.load(
      readFileSync(join(modelsDir, model.file)),
      model,
      { provider: 'cpu' },
      1,
    );
    sessions.push(session);
    bench.add(`model ${model.id}`, async () => void (await session.score([output])));
  }

  const running = await startServer(join(folder, 'data'));
  server = running;
  for (const [name, file] of Object.entries({ 'wav 16 kHz mono': 'x.wav', 'mp3 44.1 kHz stereo': 'x.mp3' })) {
    const body = formBody(readFileSync(join(folder, file)));
    bench.add(`whole request, ${name}`, () => post(running, body));
  }

  await bench.run();
} finally {
  for (const session of sessions) await session.release();
  agent.destroy();
  await server?.stop();
  rmSync(folder, { recursive: true });
}

const rows = bench.tasks.map(({ name, result }) => {
  if (result.state !== 'completed') throw new Error(`${name} did not complete: ${result.state}`);
  const sorted = [...(result.latency.samples ?? [])].sort((a, b) => a - b);
  return {
    stage: name,
    p50Ms: Number(percentile(sorted, 50).toFixed(4)),
    p95Ms: Number(percentile(sorted, 95).toFixed(4)),
    p99Ms: Number(percentile(sorted, 99).toFixed(4)),
    runs: sorted.length,
  };
});
console.table(rows);
const report = { what: `ms per ${seconds} s segment, one thread`, machine: describeMachine(), rows };
writeFileSync(join(packageDir, 'bench/results/stages.json'), `${JSON.stringify(report, null, 2)}\n`);
