// SPDX-License-Identifier: Apache-2.0
//
// `start` and `end` of a request: the answer equals that of a file cut by FFmpeg, with the times of the whole recording.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { someAnalysis, someEmbedding } from '../../support/analyser-double.js';
import { fileEntry, formBody } from '../../support/form-body.js';
import { postForm, predict, request } from '../../support/http-client.js';
import { startPipelineServer } from '../../support/pipeline-server.js';
import { ffmpegInto } from '../../support/recordings.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { API_KEY, startTestServer } from '../../support/test-server.js';
import { audioEntry, enroll, field, vectorEntry, verify } from '../../support/voiceid-client.js';

const SPEECH = path.join(packageDir, 'test/fixtures/human-lj-a.flac');

/** The fields of a form, with its file first. */
const form = (file: Uint8Array, fields: Readonly<Record<string, string>>) =>
  formBody([fileEntry(file), ...Object.entries(fields).map(([name, content]) => ({ name, content }))]);

const wrongFields: readonly [fields: Readonly<Record<string, string>>, message: RegExp][] = [
  [{ start: 'NaN' }, /from 0 to 86400 for start but received "NaN"/],
  [{ start: '-0.5' }, /for start but received "-0\.5"/],
  [{ start: '1e400' }, /for start but received/],
  [{ end: '' }, /for end but received an empty value/],
  [{ end: '0' }, /after start, which is 0, for end but received 0/],
  [{ start: '3', end: '3' }, /after start, which is 3, for end but received 3/],
  [{ start: '4', end: '3' }, /after start, which is 4, for end but received 3/],
];

test('fields that name no region are refused, before anything is analysed', async (t) => {
  const { port, analyser } = await startTestServer(t);
  for (const [fields, message] of wrongFields) {
    const what = JSON.stringify(fields);
    const answer = await predict(port, form(Buffer.from('x'), fields));
    assert.equal(answer.status, 400, what);
    assert.match(answer.json.message, message, what);
    const entries = [audioEntry('x'), ...Object.entries(fields).map(([name, value]) => field(name, value))];
    assert.equal((await enroll(port, entries)).status, 400, what);
  }
  const headers = { 'x-api-key': API_KEY, 'content-type': 'application/json' };
  const body = Buffer.from(JSON.stringify({ presigned_url: 'https://storage.invalid/a', start: '1' }));
  const asText = await request(port, '/v1/predict', { method: 'POST', headers, body });
  assert.equal(asText.status, 400);
  assert.match(asText.json.message, /start/);
  assert.deepEqual(analyser.requests, []);
});

test('a region that the recording does not have is a 400 with its duration', async (t) => {
  const { port } = await startPipelineServer(t);
  const file = await readFile(SPEECH);
  for (const fields of [{ start: '8.645' }, { start: '3', end: '9' }, { end: '86400' }, { start: '86400' }]) {
    const answer = await predict(port, form(file, fields));
    assert.equal(answer.status, 400, answer.text);
    assert.equal(answer.headers['x-error-key'], 'REGION_OUT_OF_RANGE');
    assert.match(
      answer.json.message,
      /The recording is 8\.645 s long and has no region from \d+(\.\d+)? s to /,
    );
  }
  const short = await predict(port, form(file, { start: '3', end: '3.5' }));
  assert.match(short.json.message, /0\.5 s long; at least 1 s/);
});

/** The same samples as a separate file, cut by FFmpeg at the rate of the file. */
function cut(t: TestContext, file: string, startS: number, endS: number, rateHz: number): Promise<Buffer> {
  const [from, to] = [Math.round(startS * rateHz), Math.round(endS * rateHz)];
  const filter = `atrim=start_sample=${from}:end_sample=${to}`;
  return readFile(ffmpegInto(temporaryFolder(t))(file, ['-af', filter, '-c:a', 'pcm_f32le', 'cut.wav']));
}

interface Window {
  readonly start: number;
  readonly end: number;
  readonly scores: readonly number[];
}

const GENERATED = path.join(packageDir, 'test/fixtures/ai-kokoro.flac');
// Convolutions in 8 bits magnify the last bit of a sample: noise of 1e-8 moves the log-odds of a score by 0.06.
const LOG_ODDS_TOLERANCE = 0.3;

const logOdds = ({ scores: [score = Number.NaN] }: Window): number => Math.log(score / (1 - score));

for (const [format, options, rateHz] of [
  ['wav', [], 16000],
  // At a rate without a calibration offset: a cut PCM file has none either.
  ['mp3', ['-ar', '44100', '-b:a', '128k'], 44100],
  ['m4a', ['-ar', '22050'], 22050],
] as const) {
  test(`the answer for a region of ${format} is that of the cut file, with times of the recording`, async (t) => {
    const { port } = await startPipelineServer(t);
    const join = ffmpegInto(temporaryFolder(t));
    const filter = '[0][1][0]concat=n=3:v=0:a=1,apad=pad_dur=6';
    const inputs = ['-i', GENERATED, '-filter_complex', filter];
    const long = join(SPEECH, [...inputs, ...options, `long.${format}`]);
    const file = await readFile(long);
    const [startS, endS] = [3.217, 31.5];
    const fields = { start: String(startS), end: String(endS) };
    const ofRegion = await predict(port, form(file, fields));
    const ofCut = await predict(port, form(await cut(t, long, startS, endS, rateHz), {}));
    assert.equal(ofRegion.status, 200, ofRegion.text);

    const [region, expected] = [ofRegion.json, ofCut.json];
    assert.ok(Math.abs(region.audio_duration - (endS - startS)) < 1e-3);
    assert.equal(region.audio_duration, expected.audio_duration);
    assert.ok(expected.segments.length >= 4);
    assert.equal(region.segments.length, expected.segments.length);
    assert.ok(logOdds(region.segments[1]) - logOdds(region.segments[0]) > 5, 'windows differ');
    region.segments.forEach((window: Window, i: number) => {
      const { start, end } = window;
      const other: Window = expected.segments[i];
      assert.ok(Math.abs(start - other.start - startS) < 2e-6, `${start} s`);
      assert.ok(Math.abs(end - other.end - startS) < 2e-6, `${end} s`);
      assert.ok(Math.abs(logOdds(window) - logOdds(other)) < LOG_ODDS_TOLERANCE, `window ${i}`);
    });
    // The silence at the end is skipped, and reported by its time in the recording.
    assert.match(region.warnings.join(), /^Not analysed from 26\.5 s to 31\.5 s: /);
  });
}

test('a region as long as the recording changes nothing', async (t) => {
  const { port } = await startPipelineServer(t);
  const file = await readFile(SPEECH);
  const { processing_time: _, prediction_id: __, ...whole } = (await predict(port, form(file, {}))).json;
  const region = { start: '0', end: String(whole.audio_duration) };
  const {
    processing_time: ___,
    prediction_id: ____,
    ...same
  } = (await predict(port, form(file, region))).json;
  assert.deepEqual(same, whole);
});

test('large files, enrolments and verifications take a region, too', async (t) => {
  const { port, analyser } = await startTestServer(t);
  const fields = { start: '2.5', end: '14' };
  const window = { startS: 2.5, endS: 7.5 };
  analyser.answer = () => ({ ...someAnalysis, windows: [{ ...window, scores: [0.1] }] });
  analyser.answerVoice = () => ({ ...someEmbedding, windows: [window] });
  const large = await postForm(port, '/v1/predict/large-file', form(Buffer.alloc(5_000_000), fields));
  assert.equal(large.status, 200, large.text);
  const region = [field('start', '2.5'), field('end', '14')];
  assert.equal((await enroll(port, [audioEntry('x'), ...region])).status, 200);
  const vector = (await enroll(port, [audioEntry('x')])).json.embedding;
  const sample = [audioEntry('x'), vectorEntry(vector), ...region];
  assert.equal((await verify(port, sample)).status, 200);
  const regions = analyser.requests.map(({ startS, endS }) => ({ startS, endS }));
  const [given, none] = [
    { startS: 2.5, endS: 14 },
    { startS: undefined, endS: undefined },
  ];
  assert.deepEqual(regions, [given, given, given, none, none, given, given]);
});
