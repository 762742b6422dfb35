// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { AnalysisRequest } from '../../src/analysis/analyser/analyser.js';
import { countingAnalyser } from '../../src/analysis/analyser/counting-analyser.js';
import type { RecordingCursor, RecordingRequest } from '../../src/analysis/analyser/recording.js';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import {
  AnalyserDouble,
  recordingEnd,
  someAnalysis,
  someDetector,
  someEmbedding,
} from '../support/analyser-double.js';

const { id: model, scoreFingerprint } = someDetector;
const window = (...scores: number[]) => ({ startS: 0, endS: 5, scores });

function countedDouble(t: TestContext) {
  const double = new AnalyserDouble(new UploadArena(1 << 16));
  t.after(() => double.close());
  const counts: unknown[] = [];
  const analyser = countingAnalyser(double, {
    countWindows: (...count) => counts.push(['windows', ...count]),
    countWindowScore: (...count) => counts.push(['window', ...count]),
    countFileScore: (...count) => counts.push(['file', ...count]),
  });
  return { double, analyser, counts };
}

const request = { model, region: { offset: 0, length: 0 } } as AnalysisRequest;
const liveRequest = {
  format: { encoding: 'pcm16', sampleRateHz: 16_000, channels: 1, preSkip: 0 },
  model,
  silenceThresholdPercent: 50,
  minDurationS: 1,
  maxDurationS: 60,
  owner: '',
} as const;
const recording = (cursor?: Partial<RecordingCursor>) => ({ model, cursor }) as RecordingRequest;

test('each window counts by the mean of its inputs, the file by the mean of its windows', async (t) => {
  const { double, analyser, counts } = countedDouble(t);
  double.answer = () => ({ ...someAnalysis, modelId: model, windows: [window(0.25, 0.75), window(0.1)] });
  assert.equal((await analyser.analyse(request)).windows.length, 2);
  assert.deepEqual(counts, [
    ['windows', model, 2],
    ['window', model, scoreFingerprint, 0.5],
    ['window', model, scoreFingerprint, 0.1],
    ['file', model, scoreFingerprint, 0.3],
  ]);
});

test('a file without speech has no score, and one that fails counts for nothing', async (t) => {
  const { double, analyser, counts } = countedDouble(t);
  double.answer = () => ({ ...someAnalysis, modelId: model, windows: [] });
  await analyser.analyse(request);
  double.answer = () => Promise.reject(new Error('broken'));
  await assert.rejects(() => analyser.analyse(request), /broken/);
  assert.deepEqual(counts, [['windows', model, 0]]);
});

test('of voices, only windows count', async (t) => {
  const { analyser, counts } = countedDouble(t);
  await analyser.embed(request);
  assert.deepEqual(counts, [['windows', someEmbedding.modelId, 1]]);
});

test('a recording counts step by step, and as a whole unless it was continued', async (t) => {
  const { double, analyser, counts } = countedDouble(t);
  double.recordingSteps = async function* () {
    yield { isLast: false, windows: [window(0.5)], skipped: [], cursor: {} as RecordingCursor };
    yield recordingEnd(model);
  };
  const files = async (cursor?: Partial<RecordingCursor>) => {
    counts.length = 0;
    for await (const _ of analyser.analyseRecording(recording(cursor)));
    return counts.filter((count) => Array.isArray(count) && count[0] === 'file');
  };
  assert.deepEqual(await files(), [['file', model, scoreFingerprint, (0.5 + 0.98 + 0.97) / 3]]);
  assert.equal(counts.length, 6);
  // The first reading of a single channel also has a cursor.
  assert.equal((await files({ channel: 1 })).length, 1);
  assert.deepEqual(await files({ checkpoint: 'from before' }), []);
});

test('of corrected scores, only windows count', async (t) => {
  const { double, analyser, counts } = countedDouble(t);
  const adjustScore = (score: number) => score / 2;
  double.answer = () => ({ ...someAnalysis, modelId: model, windows: [window(0.25)] });
  await analyser.analyse({ ...request, adjustScore });
  double.recordingSteps = async function* () {
    yield recordingEnd(model);
  };
  for await (const _ of analyser.analyseRecording({ ...recording(), adjustScore }));
  analyser.openLive({ ...liveRequest, adjustScore, onEvent: () => {} });
  const stream = double.liveStreams[0] ?? assert.fail('no stream');
  stream.tellWindow(0, 0.25);
  stream.tellEnd(5);
  assert.deepEqual(counts, [
    ['windows', model, 1],
    ['windows', model, 2],
    ['windows', model, 1],
  ]);
});

test('leaving a recording early ends the work', async (t) => {
  const { double, analyser } = countedDouble(t);
  let isEnded = false;
  double.recordingSteps = async function* () {
    try {
      for (;;) yield { isLast: false, windows: [], skipped: [], cursor: {} as RecordingCursor };
    } finally {
      isEnded = true;
    }
  };
  for await (const _ of analyser.analyseRecording(recording())) break;
  assert.ok(isEnded);
});

test('a stream counts window by window, and as a whole at its end', (t) => {
  const { double, analyser, counts } = countedDouble(t);
  const seen: string[] = [];
  analyser.openLive({ ...liveRequest, onEvent: ({ kind }) => seen.push(kind) });
  const stream = double.liveStreams[0] ?? assert.fail('no stream');
  stream.tellWindow(0, 0.25);
  stream.tellWindow(1, 0.75);
  stream.tellEnd(10);
  assert.deepEqual(seen, ['window', 'window', 'end']);
  assert.deepEqual(
    counts.filter((count) => Array.isArray(count) && count[0] !== 'windows'),
    [
      ['window', model, scoreFingerprint, 0.25],
      ['window', model, scoreFingerprint, 0.75],
      ['file', model, scoreFingerprint, 0.5],
    ],
  );
});
