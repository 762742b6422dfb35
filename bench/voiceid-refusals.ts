// SPDX-License-Identifier: Apache-2.0
//
// How many people the detector refuses as AI-generated voices: real recordings sent to enroll and verify of the real
// server, as they are and through codecs. The recordings are those of bench/voiceid.ts.
//
//   VERAVOX_CORPUS=FOLDER node scripts/bench.mjs voiceid-refusals [--samples 6 --seed 1 --out RESULTS.json]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadManifest } from '../src/analysis/models/model-file.js';
import { loadConfig } from '../src/base/config/load-config.js';
import { packageDir } from '../src/base/config/package-dir.js';
import { PREFERRED_MODEL } from '../src/base/contract/model-ids.js';
import { monoWav } from '../test/support/wav.js';
import { benchArguments, wrongUsage } from './arguments.js';
import { describeMachine } from './machine.js';
import { startServer } from './server-process.js';
import { makeTrials, type Recording, SAMPLE_RATE_HZ, TEST_SPEECH_S } from './voiceid-trials.js';

const usage =
  'VERAVOX_CORPUS=FOLDER node scripts/bench.mjs voiceid-refusals [--samples 6] [--seed 1] [--out RESULTS.json]';
const { values } = benchArguments(usage, {
  options: {
    samples: { type: 'string', default: '6' },
    seed: { type: 'string', default: '1' },
    out: { type: 'string', default: join(packageDir, 'bench/results/voiceid-refusals.json') },
  },
});
const corpus = process.env.VERAVOX_CORPUS;
if (corpus === undefined) wrongUsage(usage, 'Set VERAVOX_CORPUS to a folder as in docs/corpus.md.');

/** FFmpeg's options of each codec; none for a WAV file. */
const conditions: Readonly<Record<string, readonly string[]>> = {
  clean: [],
  'opus 32 kbit/s': ['-c:a', 'libopus', '-b:a', '32k', '-f', 'ogg'],
  'opus 16 kbit/s': ['-c:a', 'libopus', '-b:a', '16k', '-f', 'ogg'],
  'mp3 32 kbit/s': ['-c:a', 'libmp3lame', '-b:a', '32k', '-f', 'mp3'],
  'g.711 mu-law': ['-ar', '8000', '-c:a', 'pcm_mulaw', '-f', 'wav'],
};

function fileOf({ samples }: Recording, codec: readonly string[]): Uint8Array<ArrayBuffer> {
  const wav = monoWav(samples, SAMPLE_RATE_HZ);
  const args = ['-v', 'error', '-i', '-', ...codec, '-'];
  return new Uint8Array(
    codec.length === 0 ? wav : execFileSync('ffmpeg', args, { input: wav, maxBuffer: 64 << 20 }),
  );
}

const { modelsDir } = loadConfig(process.env);
const detector = (await loadManifest(modelsDir)).models.find(({ aliases }) =>
  aliases.includes(PREFERRED_MODEL),
);
const { enrolments, samples } = makeTrials(corpus, {
  seed: Number(values.seed),
  samplesPerSpeaker: Number(values.samples),
  impostorsPerSample: 0,
});

const folder = mkdtempSync(join(tmpdir(), 'veravox-bench-'));
const { port, apiKey, stop } = await startServer(join(folder, 'data'), {
  VERAVOX_MODELS_DIR: modelsDir,
  // An enrolment that would be refused is needed for verify all the same.
  VERAVOX_ENROLL_AUTHENTICITY: 'flag',
});

async function post(route: string, file: Uint8Array<ArrayBuffer>, vector?: string) {
  const form = new FormData();
  form.append('audio_file', new Blob([file]), 'voice');
  if (vector !== undefined) form.append('voice_vector', vector);
  const url = `http://127.0.0.1:${port}/v1/voiceid/${route}`;
  // The server closes connections that are idle while FFmpeg runs.
  const headers = { 'x-api-key': apiKey, connection: 'close' };
  const response = await fetch(url, { method: 'POST', headers, body: form });
  const body = (await response.json()) as Record<string, unknown>;
  if (response.status !== 200 && response.status !== 403) {
    throw new Error(`${route} answered ${response.status}: ${JSON.stringify(body)}`);
  }
  return { isRefused: response.status === 403 || response.headers.has('x-deepfake-flagged'), body };
}

const refusals: Record<string, Record<'enroll' | 'verify', { of: number; refused: number }>> = {};
try {
  for (const [name, codec] of Object.entries(conditions)) {
    const count = { enroll: { of: 0, refused: 0 }, verify: { of: 0, refused: 0 } };
    const vectors = new Map<string, string>();
    const add = (route: 'enroll' | 'verify', isRefused: boolean) => {
      count[route].of += 1;
      if (isRefused) count[route].refused += 1;
    };
    for (const enrolment of enrolments) {
      const { isRefused, body } = await post('enroll', fileOf(enrolment, codec));
      add('enroll', isRefused);
      vectors.set(`${enrolment.source} ${enrolment.speaker}`, JSON.stringify(body.embedding));
    }
    for (const sample of samples) {
      const vector = vectors.get(`${sample.source} ${sample.speaker}`);
      add('verify', (await post('verify', fileOf(sample, codec), vector)).isRefused);
    }
    refusals[name] = count;
    console.log(name, JSON.stringify(count));
  }
} finally {
  await stop();
  rmSync(folder, { recursive: true });
}
const report = {
  what: `real people refused as AI-generated voices: enrolments of 10 s and more, samples with ${TEST_SPEECH_S} s of speech, over HTTP`,
  machine: describeMachine(),
  model: detector?.id,
  sha256: detector?.sha256,
  people: enrolments.length,
  refusals,
};
writeFileSync(values.out, `${JSON.stringify(report, null, 2)}\n`);
