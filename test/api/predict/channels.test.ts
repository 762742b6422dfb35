// SPDX-License-Identifier: Apache-2.0
//
// `channels=separate`: each channel is answered like the mono file that FFmpeg makes of it.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { someAnalysis } from '../../support/analyser-double.js';
import { fileEntry, formBody } from '../../support/form-body.js';
import { postForm, predict } from '../../support/http-client.js';
import { startPipelineServer } from '../../support/pipeline-server.js';
import { ffmpegInto } from '../../support/recordings.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { startTestServer } from '../../support/test-server.js';

const fixture = (name: string): string => path.join(packageDir, 'test/fixtures', name);

const form = (file: Uint8Array, fields: Readonly<Record<string, string>> = { channels: 'separate' }) =>
  formBody([fileEntry(file), ...Object.entries(fields).map(([name, content]) => ({ name, content }))]);

test('more channels than can be separated are refused, and so is another way to treat them', async (t) => {
  const { port, analyser } = await startTestServer(t);
  const other = await predict(port, form(Buffer.from('x'), { channels: 'left' }));
  assert.equal(other.status, 400);
  assert.match(other.json.message, /mixed or separate for channels but received "left"/);
  analyser.answer = () => ({ ...someAnalysis, channels: 9 });
  const many = await predict(port, form(Buffer.from('x')));
  assert.equal(many.status, 400);
  assert.match(many.json.message, /has 9 channels; at most 8 /);
  assert.equal(analyser.requests.length, 1);
});

/** Two voices as the channels of one recording, and each of them alone, as extracted by FFmpeg. */
function call(t: TestContext, format: string, second: readonly string[]) {
  // Calibration has an offset for Vorbis at low rates, but not for the WAV file of a channel.
  const quality = format === 'ogg' ? ['-q:a', '9'] : [];
  const ffmpeg = ffmpegInto(temporaryFolder(t));
  const graph =
    '[0:a]aresample=16000,apad,atrim=0:12[a];[1:a]aresample=16000,apad,atrim=0:12[b];[a][b]join=inputs=2:channel_layout=stereo';
  const stereo = ffmpeg(fixture('human-lj-a.flac'), [
    ...second,
    '-filter_complex',
    graph,
    ...quality,
    `call.${format}`,
  ]);
  const sides = [0, 1].map((channel) => ffmpeg(stereo, ['-af', `pan=mono|c0=c${channel}`, `${channel}.wav`]));
  return { stereo, sides };
}

for (const format of ['wav', 'flac', 'ogg']) {
  test(`each channel of ${format} is answered like a file of its own, the mix as without the option`, async (t) => {
    const { port } = await startPipelineServer(t);
    const { stereo, sides } = call(t, format, ['-i', fixture('ai-kokoro.flac')]);
    const file = await readFile(stereo);
    const { prediction_id: _, processing_time: __, ...plain } = (await predict(port, form(file, {}))).json;
    const answer = await predict(port, form(file));
    assert.equal(answer.status, 200, answer.text);
    const { channels, prediction_id: ___, processing_time: ____, ...mix } = answer.json;
    assert.deepEqual(mix, plain);
    assert.equal(channels.length, 2);
    for (const [i, side] of sides.entries()) {
      const { global, segments, warnings } = (await predict(port, form(await readFile(side), {}))).json;
      // Lossy audio is decoded as float, while the extracted file has 16 bits.
      if (format === 'ogg') {
        assert.ok(Math.abs(channels[i].global.score - global.score) < 0.01, `channel ${i}`);
        assert.equal(channels[i].segments.length, segments.length);
      } else {
        assert.deepEqual(channels[i], { channel: i, global, segments, warnings });
      }
    }
    assert.notDeepEqual(channels[0].segments, channels[1].segments);
  });
}

test('a silent side has no verdict, only warnings', async (t) => {
  const { port } = await startPipelineServer(t);
  const { stereo } = call(t, 'wav', ['-f', 'lavfi', '-i', 'anullsrc=r=16000:cl=mono']);
  const { channels } = (await predict(port, form(await readFile(stereo)))).json;
  assert.ok(channels[0].global.score >= 0);
  const { warnings, ...silent } = channels[1];
  assert.deepEqual(silent, { channel: 1, global: null, segments: [] });
  assert.match(warnings.join(), /^Not analysed from 0 s to 12 s: 100\.0 percent/);
});

test('a mono file has one channel, which is not analysed twice; a region counts for it, too', async (t) => {
  const { port, analyser } = await startPipelineServer(t);
  let analyses = 0;
  analyser.onStart = () => analyses++;
  const file = await readFile(fixture('human-lj-a.flac'));
  const { json } = await predict(port, form(file, { channels: 'separate', start: '1', end: '7' }));
  const { global, segments, warnings } = json;
  assert.deepEqual(json.channels, [{ channel: 0, global, segments, warnings }]);
  assert.equal(segments[0].start, 1);
  assert.equal(analyses, 1);
});

test('large files answer channels in their own form', async (t) => {
  const { port } = await startPipelineServer(t);
  const ffmpeg = ffmpegInto(temporaryFolder(t));
  const graph = '[0:a]aloop=-1:size=138320,atrim=0:80[a];[a]pan=stereo|c0=c0|c1=0*c0';
  const file = await readFile(ffmpeg(fixture('human-lj-a.flac'), ['-filter_complex', graph, 'large.wav']));
  const answer = await postForm(port, '/v1/predict/large-file', form(file));
  assert.equal(answer.status, 200, answer.text);
  const [left, right] = answer.json.channels;
  assert.deepEqual(Object.keys(left.segments[1]), ['index', 'start', 'end', 'confidence', 'result']);
  assert.deepEqual(Object.keys(left.global), ['confidence', 'result', 'reason']);
  assert.equal(right.global, null);
});

test('audio is counted once per channel, and windows as often as they were scored', async (t) => {
  const { port, analyser, log } = await startTestServer(t);
  analyser.answer = (request) => ({ ...someAnalysis, modelId: request.model, channels: 2 });
  const answer = await predict(port, form(Buffer.from('x')));
  assert.equal(answer.json.audio_duration, 10);
  const line = log.find((candidate) => candidate.status === 200 && candidate.route === '/v1/predict');
  assert.equal(line?.audioS, 20);
  assert.equal(line?.scoredWindows, 6);
  assert.deepEqual(
    analyser.requests.map(({ channel }) => channel),
    [undefined, 0, 1],
  );
});
