// SPDX-License-Identifier: Apache-2.0
//
// Inaudible changes move no score: offsets, rumble, high-passes below the voice, polarity, level, dither. With every detector
// that ships, for files, live audio, enrol and verify.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { AnalysisRequest, SpeakerModelStatus } from '../../src/analysis/analyser/analyser.js';
import type { FullAnalyser } from '../../src/analysis/analyser/recording.js';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import { Speaker } from '../../src/analysis/voiceid/speaker.js';
import { readVoice } from '../../src/analysis/voiceid/voice-sample.js';
import { loadAddon } from '../../src/base/addon/addon.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { enrollNeeds } from '../../src/base/contract/limits.js';
import { startServerWith, testConfig } from '../support/test-server.js';
import { until } from '../support/until.js';
import { audioEntry, enroll, vectorEntry, verify } from '../support/voiceid-client.js';
import { monoWav, repeated } from '../support/wav.js';

const RATE_HZ = 16000;
const MOST = 0.06; // tolerance of the score; the first moment moves it, before which there was no rumble
const clips = ['ai-kokoro', 'human-lj-b', 'human-vctk-p237', 'ai-and-human'];

type Change = (samples: Float32Array) => Float32Array;

const tone = (frequencyHz: number, level: number): Change => {
  const step = (2 * Math.PI * frequencyHz) / RATE_HZ;
  return (samples) => samples.map((x, i) => x + level * Math.sin(step * i + 1));
};

/** A Butterworth section of order 1. */
function highPassOnce(samples: Float32Array, cutoffHz: number): Float32Array {
  const k = Math.tan((Math.PI * cutoffHz) / RATE_HZ);
  const [b, a] = [1 / (1 + k), (k - 1) / (k + 1)];
  let [before, output] = [0, 0];
  return samples.map((x) => {
    output = b * (x - before) - a * output;
    before = x;
    return output;
  });
}

const highPass =
  (cutoffHz: number, order: number): Change =>
  (samples) =>
    Array.from({ length: order }).reduce<Float32Array>((x) => highPassOnce(x, cutoffHz), samples);

let state = 7;
const random = (): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 32;
};
const changes: Readonly<Record<string, Change>> = {
  'an offset of 1 %': (samples) => samples.map((x) => x + 0.01),
  'an offset of -5 %': (samples) => samples.map((x) => x - 0.05),
  'rumble at 2 Hz': tone(2, 0.05),
  'rumble at 10 Hz': tone(10, 0.01),
  'rumble at 30 Hz': tone(30, 0.01),
  'rumble at 40 Hz': tone(40, 0.05),
  'a high-pass of order 1 at 20 Hz': highPass(20, 1),
  'a high-pass of order 4 at 20 Hz': highPass(20, 4),
  'a high-pass of order 8 at 10 Hz': highPass(10, 8),
  'reversed polarity': (samples) => samples.map((x) => -x),
  'a level of -20 dB': (samples) => samples.map((x) => 0.1 * x),
  dither: (samples) => samples.map((x) => x + (random() - random()) / 32768),
};

const arena = new UploadArena(16 << 20);
const common = { silenceThresholdPercent: 80, minDurationS: 0.1, maxDurationS: 600 };
const recordings = new Map<string, Float32Array>();
let analyser: FullAnalyser;
let detectors: string[];

before(async () => {
  const modelsDir = path.join(packageDir, 'models');
  analyser = await startPipeline({ ...testConfig, modelsDir, scoringThreads: 2 }, arena.buffer);
  detectors = analyser.status().detectors.map(({ id }) => id);
  for (const clip of clips) {
    const file = await readFile(path.join(modelsDir, 'known-answers', `${clip}.flac`));
    const { samples, sampleRateHz } = loadAddon().decode(file);
    assert.equal(sampleRateHz, RATE_HZ);
    // Room for additions.
    recordings.set(
      clip,
      samples.map((x) => 0.8 * x),
    );
  }
});

after(() => analyser.close());

const mean = (values: readonly number[]): number => values.reduce((sum, x) => sum + x, 0) / values.length;

type FileRequest = Pick<AnalysisRequest, 'region' | 'signal'>;

async function withFile<Result>(
  samples: Float32Array,
  work: (file: FileRequest) => Promise<Result>,
): Promise<Result> {
  const file = monoWav(samples, RATE_HZ);
  const region = arena.reserve(file.length);
  assert.ok(region);
  arena.bytes.set(file, region.offset);
  return work({ region, signal: new AbortController().signal }).finally(() => arena.release(region));
}

async function scoreOfFile(samples: Float32Array, model: string): Promise<number> {
  const { windows } = await withFile(samples, (file) => analyser.analyse({ ...file, model, ...common }));
  return mean(windows.map(({ scores }) => mean(scores)));
}

async function scoreOfStream(samples: Float32Array, model: string): Promise<number> {
  const scores: number[] = [];
  let outcome = '';
  const live = analyser.openLive({
    format: { encoding: 'pcm16', sampleRateHz: RATE_HZ, channels: 1, preSkip: 0 },
    model,
    ...common,
    owner: 'a',
    onEvent: (event) => {
      if (event.kind === 'window') scores.push(mean(event.window.scores));
      if (event.kind === 'end' || event.kind === 'failed') outcome = event.kind;
    },
  });
  const bytes = monoWav(samples, RATE_HZ).slice(44);
  for (let begin = 0; begin < bytes.length; begin += 9000) {
    const piece = bytes.slice(begin, begin + 9000);
    live.push(piece, piece.length / 2 / RATE_HZ);
  }
  live.finish();
  await until(() => outcome !== '');
  assert.equal(outcome, 'end');
  return mean(scores);
}

const ways = { file: scoreOfFile, stream: scoreOfStream };

for (const [way, scoreOf] of Object.entries(ways))
  for (const clip of clips)
    test(`${way}: no inaudible change moves the scores of ${clip}`, async () => {
      const samples = recordings.get(clip) as Float32Array;
      // Live audio goes through the same stages; one detector shows that its beginning also does.
      for (const model of way === 'file' ? detectors : detectors.slice(0, 1)) {
        const plain = await scoreOf(samples, model);
        for (const [name, change] of Object.entries(changes)) {
          const moved = Math.abs((await scoreOf(change(samples), model)) - plain);
          assert.ok(moved <= MOST, `${model}: ${name} moves ${plain} by ${moved}`);
        }
      }
    });

test('an inaudible tone brings no speech into a voiceprint that the detector has not scored', async () => {
  const speaker = new Speaker(analyser.status().speakerModels[0] as SpeakerModelStatus, undefined);
  const person = (recordings.get('human-lj-b') as Float32Array).subarray(0, 5 * RATE_HZ);
  const generated = recordings.get('ai-kokoro') as Float32Array;
  // Behind the person, windows with a little less cloned speech than counts.
  const sample = new Float32Array(13 * 5 * RATE_HZ);
  sample.set(person);
  for (let i = 1; i <= 12; i++) {
    const begin = Math.floor((0.3 + ((i - 1) % 5) * 0.9) * RATE_HZ);
    sample.set(generated.subarray(begin, begin + 0.8 * RATE_HZ), (5 * i + 2) * RATE_HZ);
  }
  sample.set(tone(44, 0.1)(sample));
  const embed = (file: FileRequest, part: Pick<AnalysisRequest, 'windows' | 'silenceThresholdPercent'>) =>
    analyser.embed({ ...file, ...common, ...part, model: speaker.modelId });
  for (const model of detectors) {
    await withFile(sample, async (file) => {
      const { windows } = await analyser.analyse({ ...file, ...common, model });
      const others = await embed(file, common);
      assert.ok(others.windows.length > windows.length, 'the tone makes the speaker model hear more windows');
      const { embedding } = await embed(file, { windows, silenceThresholdPercent: 100 });
      const voice = await readVoice(analyser, speaker, {
        ...file,
        ...common,
        ...enrollNeeds,
        detectorId: model,
      });
      assert.deepEqual(voice.voiceprint, speaker.space.voiceprintOf(embedding as Float32Array));
    });
  }
});

test('enrol and verify refuse an AI-generated voice after every inaudible change', async (t) => {
  const { port } = await startServerWith(t, analyser, arena);
  const person = recordings.get('human-lj-b') as Float32Array;
  const twice = (samples: Float32Array): Float32Array => repeated(samples, 2 * samples.length);
  const answer = await enroll(port, [audioEntry(monoWav(twice(person), RATE_HZ))]);
  assert.equal(answer.status, 200, answer.text);
  const generated = recordings.get('ai-kokoro') as Float32Array;
  for (const [name, change] of Object.entries(changes)) {
    const verified = await verify(port, [
      audioEntry(monoWav(change(generated), RATE_HZ)),
      vectorEntry(answer.json.embedding),
    ]);
    assert.equal(verified.status, 403, `verify, ${name}: ${verified.text}`);
    const enrolled = await enroll(port, [audioEntry(monoWav(change(twice(generated)), RATE_HZ))]);
    assert.equal(enrolled.status, 403, `enroll, ${name}: ${enrolled.text}`);
  }
});
