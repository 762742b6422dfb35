// SPDX-License-Identifier: Apache-2.0
//
// How often the real server, asked over HTTP, takes another speaker for the enrolled one, and the enrolled one for another,
// compared with the model's manifest entry. Fails if the server is worse than that, beyond chance.
//
//   VERAVOX_CORPUS=FOLDER npm run bench voiceid [-- --samples 6 --impostors 4 --seed 1]
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadManifest } from '../src/analysis/models/model-file.js';
import { loadConfig } from '../src/base/config/load-config.js';
import { packageDir } from '../src/base/config/package-dir.js';
import { monoWav } from '../test/support/wav.js';
import { describeMachine } from './support/machine.js';
import { startServer } from './support/server-process.js';
import { makeTrials, randomOf, SAMPLE_RATE_HZ, TEST_SPEECH_S } from './support/voiceid-trials.js';

const { values } = parseArgs({
  options: {
    samples: { type: 'string', default: '6' },
    impostors: { type: 'string', default: '4' },
    seed: { type: 'string', default: '1' },
  },
});
const corpus = process.env.VERAVOX_CORPUS;
if (corpus === undefined) throw new Error('Set VERAVOX_CORPUS to a folder as in docs/corpus.md.');
const seed = Number(values.seed);
const bootstrapRounds = 1000;

interface Rates {
  readonly false_accepts: number;
  readonly false_rejects: number;
}

const { modelsDir } = loadConfig(process.env);
const speaker = (await loadManifest(modelsDir)).models.find((model) => model.task === 'speaker');
if (speaker === undefined) throw new Error(`${modelsDir} lists no speaker model.`);
const byTestSpeech = speaker.metrics.by_test_speech as
  | Record<string, { at_operating_point?: Rates } | undefined>
  | undefined;
const claimed = byTestSpeech?.[`${TEST_SPEECH_S} s`]?.at_operating_point;

const { enrolments, samples, trials } = makeTrials(corpus, {
  seed,
  samplesPerSpeaker: Number(values.samples),
  impostorsPerSample: Number(values.impostors),
});
console.log(`${enrolments.length} enrolments, ${samples.length} samples, ${trials.length} trials`);

/** Runs the work on every item, a few at a time. */
async function forEach<Item>(items: readonly Item[], work: (item: Item, i: number) => Promise<void>) {
  const queue = items.entries();
  const lane = async () => {
    for (const [i, item] of queue) await work(item, i);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
}

const folder = mkdtempSync(join(tmpdir(), 'veravox-bench-'));
const { port, apiKey, stop } = await startServer(join(folder, 'data'), {
  VERAVOX_MODELS_DIR: modelsDir,
  // Whether the detector takes an enrolment for AI-generated is not measured here.
  VERAVOX_ENROLL_AUTHENTICITY: 'skip',
});

async function post(route: string, samplesOfVoice: Float32Array, vector?: string) {
  const form = new FormData();
  form.append('audio_file', new Blob([new Uint8Array(monoWav(samplesOfVoice, SAMPLE_RATE_HZ))]), 'voice.wav');
  if (vector !== undefined) form.append('voice_vector', vector);
  const url = `http://127.0.0.1:${port}/v1/voiceid/${route}`;
  const response = await fetch(url, { method: 'POST', headers: { 'x-api-key': apiKey }, body: form });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** The outcome of a trial; undefined if the detector refused the sample. */
const accepted: (boolean | undefined)[] = [];
try {
  const vectors: string[] = [];
  await forEach(enrolments, async (enrolment, i) => {
    const { status, body } = await post('enroll', enrolment.samples);
    if (status !== 200) throw new Error(`enroll answered ${status}: ${JSON.stringify(body)}`);
    vectors[i] = JSON.stringify(body.embedding);
  });
  await forEach(trials, async ({ enrolled, tested }, i) => {
    const sample = samples[tested]?.samples as Float32Array;
    const { status, body } = await post('verify', sample, vectors[enrolled]);
    if (status !== 200 && status !== 403)
      throw new Error(`verify answered ${status}: ${JSON.stringify(body)}`);
    accepted[i] = status === 403 ? undefined : (body.is_match as boolean);
  });
} finally {
  await stop();
  rmSync(folder, { recursive: true });
}

/** The rates if a speaker counts `weightOf` times; a trial counts as often as both of its speakers. */
function ratesWith(weightOf: (speaker: string) => number): Rates {
  const totals = { same: 0, rejected: 0, different: 0, accepted: 0 };
  trials.forEach(({ enrolled, tested }, i) => {
    if (accepted[i] === undefined) return;
    const [a, b] = [enrolments[enrolled]?.speaker as string, samples[tested]?.speaker as string];
    const weight = a === b ? weightOf(a) : weightOf(a) * weightOf(b);
    if (a === b) {
      totals.same += weight;
      if (!accepted[i]) totals.rejected += weight;
    } else {
      totals.different += weight;
      if (accepted[i]) totals.accepted += weight;
    }
  });
  return {
    false_accepts: totals.accepted / totals.different,
    false_rejects: totals.rejected / totals.same,
  };
}

function interval(rate: keyof Rates): [number, number] {
  const speakers = [...new Set(enrolments.map((enrolment) => enrolment.speaker))];
  const random = randomOf(seed);
  const drawn = Array.from({ length: bootstrapRounds }, () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < speakers.length; i++) {
      const name = speakers[Math.floor(random() * speakers.length)] as string;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return ratesWith((name) => counts.get(name) ?? 0)[rate];
  })
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  const at = (share: number) => drawn[Math.floor(share * (drawn.length - 1))] as number;
  return [at(0.025), at(0.975)];
}

const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;
const measured = ratesWith(() => 1);
const compared = (['false_accepts', 'false_rejects'] as const).map((rate) => {
  const [low, high] = interval(rate);
  return {
    rate,
    measured: rounded(measured[rate]),
    interval_95: [rounded(low), rounded(high)],
    claimed: claimed?.[rate] ?? null,
    holds: claimed === undefined ? null : low <= claimed[rate],
  };
});
const refused = accepted.filter((outcome) => outcome === undefined).length;
const report = {
  what: `enrolments of 10 s and more against samples with ${TEST_SPEECH_S} s of speech, inside one source, over HTTP`,
  machine: describeMachine(),
  model: speaker.id,
  sha256: speaker.sha256,
  operating_point: speaker.operating_point,
  speakers: enrolments.length,
  trials: trials.length,
  refused_as_ai_generated: rounded(refused / trials.length),
  rates: compared,
};
console.log(JSON.stringify(report, null, 2));
writeFileSync(join(packageDir, 'bench/results/voiceid.json'), `${JSON.stringify(report, null, 2)}\n`);
if (compared.some(({ holds }) => holds === false)) {
  console.error('The server does worse than the manifest claims.');
  process.exitCode = 1;
}
