// SPDX-License-Identifier: Apache-2.0
//
// Answers about a voice say in a header which parts of the recording were not heard, each sample by its number.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { someAnalysis, someEmbedding } from '../../support/analyser-double.js';
import { startTestServer } from '../../support/test-server.js';
import {
  audioEntry,
  enroll,
  enrollSamples,
  field,
  postVoice,
  vectorEntry,
  verify,
} from '../../support/voiceid-client.js';

const warningsIn = (headers: Record<string, unknown>): unknown =>
  headers['x-warnings'] === undefined ? undefined : JSON.parse(String(headers['x-warnings']));

test('each route names what was not heard, and nothing otherwise', async (t) => {
  const { port, analyser } = await startTestServer(t);
  analyser.answer = () => ({
    ...someAnalysis,
    durationS: 12,
    windows: [{ startS: 0, endS: 5, scores: [0.1] }],
  });
  analyser.answerVoice = () => someEmbedding;
  const { json } = await enroll(port, [audioEntry('voice')]);
  const voiceprints = JSON.stringify([{ id: 'anna', voice_vector: json.embedding }]);
  const calls = {
    enroll: () => enroll(port, [audioEntry('voice')]),
    verify: () => verify(port, [audioEntry('voice'), vectorEntry(json.embedding)]),
    search: () =>
      postVoice(port, '/v1/voiceid/search', [audioEntry('voice'), field('voiceprints', voiceprints)]),
  };
  for (const [name, call] of Object.entries(calls)) {
    analyser.answerVoice = () => someEmbedding;
    const whole = await call();
    assert.deepEqual([whole.status, warningsIn(whole.headers)], [200, undefined], `${name} ${whole.text}`);
    analyser.answerVoice = () => ({
      ...someEmbedding,
      damagedPackets: 2,
      damagedFromS: 3,
      damagedToS: 4.5,
      hasInvertedChannels: true,
      unheard: [{ bytes: 700, atS: 11, what: 'damaged data' }],
      statedLength: { foundS: 12 },
    });
    const { headers } = await call();
    assert.deepEqual(warningsIn(headers), [
      'Channels have opposite polarity and would cancel each other: some were inverted for the mix.',
      'Not analysed: 700 bytes after 11 s, damaged data.',
      'The end is missing: the file breaks off after 12 s.',
      '2 damaged packets were skipped while decoding, from 3 s to 4.5 s.',
    ]);
  }
});

test('a sample of several is named by its number', async (t) => {
  const { port, analyser, arena } = await startTestServer(t);
  analyser.answer = () => ({
    ...someAnalysis,
    durationS: 12,
    windows: [{ startS: 0, endS: 5, scores: [0.1] }],
  });
  analyser.answerVoice = ({ region }) => ({
    ...someEmbedding,
    ...(arena.bytes[region.offset] === '2'.charCodeAt(0) && { statedLength: { statedS: 20, foundS: 12 } }),
  });
  const { status, headers, text } = await enrollSamples(port, ['1', '2', '3'].map(audioEntry));
  assert.equal(status, 200, text);
  assert.deepEqual(warningsIn(headers), [
    'Sample 2: Audio is missing: the file states a length of 20 s, but has 12 s.',
  ]);
});
