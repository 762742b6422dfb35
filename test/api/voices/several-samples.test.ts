// SPDX-License-Identifier: Apache-2.0
//
// Enrolments of several samples: which ones count, the report on each, and the voiceprint as their mean, as in NumPy.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import type { AnalysisRequest, VoiceEmbedding } from '../../../src/analysis/analyser/analyser.js';
import { VoiceprintSpace } from '../../../src/analysis/voiceid/voiceprint-space.js';
import { ServiceError } from '../../../src/base/errors/service-error.js';
import { someAnalysis, someEmbedding, someSpeakerModel } from '../../support/analyser-double.js';
import { startTestServer } from '../../support/test-server.js';
import { audioEntry, enroll, enrollSamples, vectorEntry, verify } from '../../support/voiceid-client.js';

const space = new VoiceprintSpace(someSpeakerModel.fingerprint);
const SIZE = 256;

/** Orthonormal voiceprints. */
function basis(count: number): Float64Array[] {
  const made: Float64Array[] = [];
  for (let i = 0; i < count; i++) {
    const seed = Float32Array.from({ length: SIZE }, (_, k) => Math.sin((i + 2) * (k + 1) ** 1.3));
    const vector = Float64Array.from(space.voiceprintOf(seed));
    for (const other of made) {
      const share = vector.reduce((sum, x, k) => sum + x * (other[k] as number), 0);
      vector.forEach((x, k) => {
        vector[k] = x - share * (other[k] as number);
      });
    }
    const length = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));
    made.push(vector.map((x) => x / length));
  }
  return made;
}
const directions = basis(12);

/** A person's voice, slightly different each time: two samples of one person have a cosine of 0.8. */
function voice(person: number, take: number): Float32Array {
  const [own, other] = [directions[person], directions[6 + take]] as [Float64Array, Float64Array];
  return Float32Array.from(own, (x, i) => Math.sqrt(0.8) * x + Math.sqrt(0.2) * (other[i] as number));
}

interface Sample extends Partial<Omit<VoiceEmbedding, 'embedding'>> {
  readonly embedding: Float32Array;
  readonly score?: number;
  readonly fails?: ServiceError;
}

/** A server that reads the index of the sample from the file's content. */
async function startWith(t: TestContext, samples: readonly Sample[], settings = {}) {
  const server = await startTestServer(t, settings);
  const { analyser, arena } = server;
  const sampleOf = ({ region: { offset } }: AnalysisRequest) =>
    samples[(arena.bytes[offset] as number) - 48] as Sample;
  analyser.answerVoice = (request) => {
    const { score, fails, ...voice } = sampleOf(request);
    if (fails) throw fails;
    return { ...someEmbedding, ...voice };
  };
  analyser.answer = (request) => ({
    ...someAnalysis,
    durationS: 12,
    windows: [{ startS: 0, endS: 5, scores: [sampleOf(request).score ?? 0.1] }],
  });
  const files = samples.map((_, i) => audioEntry(String(i)));
  return { ...server, files };
}

test('a form with more samples than allowed is refused', async (t) => {
  const { port, analyser } = await startTestServer(t);
  const many = await enrollSamples(
    port,
    Array.from({ length: 11 }, () => audioEntry('x')),
  );
  assert.equal(many.status, 400);
  assert.match(many.json.message, /at most 10 files for audio_file but received 11/);
  const empty = await enrollSamples(port, [audioEntry('x'), audioEntry('')]);
  assert.equal(empty.headers['x-error-key'], 'FILE_EMPTY');
  const twice = await verify(port, [audioEntry('x'), audioEntry('y'), vectorEntry(voice(0, 0))]);
  assert.equal(twice.headers['x-error-key'], 'FIELD_REPEATED');
  assert.deepEqual(analyser.requests, []);
});

test('samples of several people are refused: nobody knows who is meant', async (t) => {
  const two = await startWith(t, [{ embedding: voice(0, 0) }, { embedding: voice(1, 1) }]);
  const answer = await enrollSamples(two.port, two.files);
  assert.equal(answer.status, 400);
  assert.equal(answer.headers['x-error-key'], 'SAMPLES_DISAGREE');
  assert.match(answer.json.message, /Samples: 1: (usable|disagrees), 2: (usable|disagrees)\.$/);
  assert.equal(two.arena.usedBytes, 0);
});

test('too little accepted audio is refused with what became of each sample', async (t) => {
  const { port, files } = await startWith(t, [
    { embedding: voice(0, 0), durationS: 6, speechS: 5 },
    { embedding: voice(0, 1), fails: new ServiceError('AUDIO_TOO_SHORT', { measuredS: 0.5, requiredS: 1 }) },
    { embedding: voice(0, 2), score: 0.9 },
  ]);
  const answer = await enrollSamples(port, files);
  assert.equal(answer.status, 400);
  assert.match(
    answer.json.message,
    /have 6 s of audio with 5 s of speech; at least 10 s with 3 s of speech .*1: usable, 2: too_short, 3: ai_generated\.$/,
  );
});

test('samples that are just long enough together are enough', async (t) => {
  const { port, files } = await startWith(
    t,
    // Their sum as doubles is below 10.
    [3.09, 4.97, 1.94].map((durationS, take) => ({ embedding: voice(0, take), durationS, speechS: 1.5 })),
  );
  const answer = await enrollSamples(port, files);
  assert.equal(answer.status, 200, answer.text);
});

test('samples that are all AI-generated are 403, like a single one', async (t) => {
  const { port, files } = await startWith(t, [
    { embedding: voice(0, 0), score: 0.7 },
    { embedding: voice(0, 1), score: 0.9 },
  ]);
  const answer = await enrollSamples(port, files);
  assert.equal(answer.status, 403);
  assert.match(answer.json.message.detail, /90\.0%/);
});

test('a file that is no audio fails the request, and is named by its number', async (t) => {
  const fails = new ServiceError('NO_AUDIO_STREAM');
  const { port, files } = await startWith(t, [{ embedding: voice(0, 0) }, { embedding: voice(0, 1), fails }]);
  const { json, headers } = await enrollSamples(port, files);
  assert.equal(headers['x-error-key'], 'NO_AUDIO_STREAM');
  assert.equal(json.message, `Sample 2: ${new ServiceError('NO_AUDIO_STREAM').message}`);
});

test('the voiceprint is the mean weighted by speech of the samples that agree', async (t) => {
  const samples = [
    { embedding: voice(0, 0), speechS: 4, durationS: 8, noiseGapDb: 31.26 },
    { embedding: voice(1, 1), speechS: 9, durationS: 15 },
    { embedding: voice(0, 2), speechS: 8, durationS: 9, noiseGapDb: 17 },
    { embedding: voice(0, 3), speechS: 2, durationS: 3 },
  ];
  const { port, files, log } = await startWith(t, samples);
  const answer = await enrollSamples(port, files);
  assert.equal(answer.status, 200, answer.text);

  const script = `
import json, sys, numpy as np
given = json.load(sys.stdin)
voiceprints = np.array([v for v, _ in given], dtype=np.float64)
voiceprints /= np.linalg.norm(voiceprints, axis=1, keepdims=True)
speech = np.array([s for _, s in given])
unit = lambda v: v / np.linalg.norm(v)
mean = unit(speech @ voiceprints)
agreements = []
for i in range(len(given)):
    others = [k for k in range(len(given)) if k != i]
    agreements.append(float(voiceprints[i] @ unit(speech[others] @ voiceprints[others])))
print(json.dumps({"mean": mean.tolist(), "agreements": agreements}))`;
  const alike = [0, 2, 3].map((i) => samples[i] as (typeof samples)[number]);
  const input = JSON.stringify(alike.map(({ embedding, speechS }) => [Array.from(embedding), speechS]));
  const numpy = JSON.parse(execFileSync('/usr/bin/python3', ['-c', script], { input, encoding: 'utf8' }));

  for (const [i, x] of answer.json.embedding.entries()) assert.ok(Math.abs(x - numpy.mean[i]) < 1e-6);
  const reports = answer.json.samples;
  for (const [k, i] of [0, 2, 3].entries()) {
    assert.ok(Math.abs(reports[i].agreement - numpy.agreements[k]) < 2e-6, `sample ${i}`);
  }
  assert.ok(Math.abs(reports[1].agreement) < 0.1);
  const plain = reports.map(({ agreement: _, ...report }: Record<string, unknown>) => report);
  const accepted = { accepted: true, reason: null };
  assert.deepEqual(plain, [
    { index: 0, ...accepted, duration: 8, speech: 4, snr_db: 31.3 },
    { index: 1, accepted: false, reason: 'disagrees', duration: 15, speech: 9, snr_db: null },
    { index: 2, ...accepted, duration: 9, speech: 8, snr_db: 17 },
    { index: 3, ...accepted, duration: 3, speech: 2, snr_db: null },
  ]);
  const { agreement, ...quality } = answer.json.quality;
  assert.deepEqual(quality, { rating: 'poor', shortcomings: ['little_speech', 'noisy'], speech: 14 });
  assert.equal(agreement, Math.min(...[0, 2, 3].map((i) => reports[i].agreement)));
  assert.equal(answer.json.deepfake_checked, true);
  // All samples counted as work.
  assert.equal(log.find(({ status }) => status === 200)?.audioS, 35);
});

test('three long samples that agree are a good enrolment, and pass verification', async (t) => {
  const samples = [0, 1, 2].map((take) => ({ embedding: voice(0, take), speechS: 6, noiseGapDb: 40 }));
  const { port, files } = await startWith(t, samples);
  const { embedding, quality } = (await enrollSamples(port, files)).json;
  assert.equal(quality.rating, 'good', JSON.stringify(quality));
  const answer = await verify(port, [files[0] as (typeof files)[0], vectorEntry(embedding)]);
  assert.equal(answer.json.is_match, true);
  assert.ok(Number(answer.headers['x-voice-cosine']) > 0.9);
});

test('with the policy flag, AI-generated samples count and the worst score is in the header', async (t) => {
  const { port, files } = await startWith(
    t,
    [
      { embedding: voice(0, 0), score: 0.6 },
      { embedding: voice(0, 1), score: 0.8 },
      { embedding: voice(0, 2) },
    ],
    { enrollAuthenticity: 'flag' },
  );
  const answer = await enrollSamples(port, files);
  assert.equal(answer.headers['x-deepfake-flagged'], '0.8');
  assert.deepEqual(
    answer.json.samples.map(({ accepted }: { accepted: boolean }) => accepted),
    [true, true, true],
  );
});

test('a single sample gets the same voiceprint as from enroll, with feedback', async (t) => {
  const { port, files } = await startWith(t, [{ embedding: voice(0, 0), noiseGapDb: 40, speechS: 16 }]);
  const plain = (await enroll(port, files)).json;
  const { embedding, samples, quality } = (await enrollSamples(port, files)).json;
  assert.deepEqual(embedding, plain.embedding);
  assert.equal(samples[0].agreement, null);
  assert.deepEqual(quality, { rating: 'fair', shortcomings: ['few_samples'], speech: 16, agreement: null });
});
