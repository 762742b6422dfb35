// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import { VoiceprintSpace } from '../../../src/analysis/voiceid/voiceprint-space.js';
import { ServiceError } from '../../../src/base/errors/service-error.js';
import { someAnalysis, someEmbedding, someSpeakerModel } from '../../support/analyser-double.js';
import { FORM_TYPE, type FormEntry, noise } from '../../support/form-body.js';
import { type Answer, RawClient, request } from '../../support/http-client.js';
import { API_KEY, KEY_WITHOUT_SCOPE, startTestServer, type TestServer } from '../../support/test-server.js';
import { audioEntry, enroll, field, postVoice, vectorEntry, verify } from '../../support/voiceid-client.js';

const routes = ['/v1/voiceid/enroll', '/v1/voiceid/verify'] as const;
const space = new VoiceprintSpace(someSpeakerModel.fingerprint);
const voiceprint = space.voiceprintOf(someEmbedding.embedding as Float32Array);
const audio = audioEntry('some audio');
const vector = vectorEntry(voiceprint);
const human = { ...someAnalysis, windows: [{ startS: 0, endS: 5, scores: [0.1] }] };

function assertRefused(answer: Answer, status: number, error: string, message: RegExp): void {
  assert.equal(answer.status, status, answer.text);
  assert.deepEqual(Object.keys(answer.json), ['error', 'message', 'status', 'correlation_id']);
  assert.equal(answer.json.error, error);
  assert.match(answer.json.message, message);
  assert.equal(answer.json.status, status);
  assert.equal(answer.json.correlation_id, answer.headers['x-correlation-id']);
}

for (const path of routes) {
  test(`${path}: a missing or unknown key is 401, one without the scope 403, and GET 405`, async (t) => {
    const { port } = await startTestServer(t);
    const withKey = (key: string) =>
      postVoice(port, path, [audio, vector], { headers: { 'x-api-key': key } });
    assertRefused(await withKey(''), 401, 'unauthorized', /x-api-key/);
    assertRefused(await withKey('wrong'), 401, 'unauthorized', /x-api-key/);
    assertRefused(await withKey(KEY_WITHOUT_SCOPE), 403, 'forbidden', /lacks the scope voiceid/);
    const get = await request(port, path, { headers: { 'x-api-key': API_KEY } });
    assertRefused(get, 405, 'method_not_allowed', /GET is not allowed/);
    assert.equal(get.headers.allow, 'POST, OPTIONS');
  });

  test(`${path}: on a server without a speaker model it is 503 before the body has come`, async (t) => {
    const { port, arena } = await startTestServer(t, {}, { speakerModels: [] });
    const client = await RawClient.connect(port);
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${API_KEY}\r\ncontent-type: ${FORM_TYPE}\r\n`;
    await client.write(`${head}content-length: 100000\r\n\r\n`);
    const answer = await client.until(/\}\r\n$/);
    assert.match(answer, /^HTTP\/1\.1 503 /);
    assert.match(answer, /\r\nretry-after: 300\r\n/i);
    assert.match(answer, /"error":"unavailable".*needs a speaker model, and this server has none/);
    assert.equal(arena.usedBytes, 0);
    client.socket.destroy();
  });

  test(`${path}: a file over the size limit is 413, one of just that size is not`, async (t) => {
    const { port, analyser, arena } = await startTestServer(t, { maxVoiceidBytes: 100_000 });
    analyser.answer = () => human;
    const sized = (bytes: number) => postVoice(port, path, [audioEntry(noise(bytes)), vector]);
    assert.equal((await sized(100_000)).status, 200);
    assertRefused(await sized(100_001), 413, 'payload_too_large', /exceeds the limit of 100000 bytes/);
    assertRefused(await sized(2_000_000), 413, 'payload_too_large', /exceeds the limit of 100000 bytes/);
    assert.equal(arena.usedBytes, 0);
  });

  const badForms: readonly [what: string, entries: readonly FormEntry[], message: RegExp][] = [
    ['no file', [vector], /no file in the field audio_file/],
    ['a file in another field', [{ ...audio, name: 'file' }, vector], /no file in the field audio_file/],
    ['text as file', [field('audio_file', 'voice.wav'), vector], /no file in the field audio_file/],
    ['an empty file', [audioEntry(''), vector], /audio_file is empty/],
    ['two files', [audio, audio, vector], /audio_file was given more than once/],
    [
      'a user_id of more than 64 KiB',
      [audio, vector, field('user_id', 'x'.repeat(65_537))],
      /user_id exceeds the limit/,
    ],
    [
      'two user_id',
      [audio, vector, field('user_id', 'a'), field('user_id', 'a')],
      /user_id was given more than/,
    ],
  ];
  for (const [what, entries, message] of badForms) {
    test(`${path}: ${what} is 400`, async (t) => {
      const { port, analyser, arena } = await startTestServer(t);
      assertRefused(await postVoice(port, path, entries), 400, 'validation_error', message);
      assert.equal(analyser.requests.length, 0);
      assert.equal(arena.usedBytes, 0);
    });
  }

  test(`${path}: what the analyses refuse is answered, once both have let go of the file`, async (t) => {
    const { port, analyser, arena } = await startTestServer(t);
    let detectionEnded = false;
    analyser.answerVoice = () => {
      throw new ServiceError('UNSUPPORTED_FORMAT', { problem: 'text.' });
    };
    analyser.answer = async ({ signal }) => {
      while (!signal.aborted) await nextTick();
      // A prepare thread needs a moment to see the flag.
      for (let i = 0; i < 10; i++) await nextTick();
      assert.ok(arena.usedBytes > 0, 'the region was given back while it was being read');
      detectionEnded = true;
      throw signal.reason;
    };
    const answer = await postVoice(port, path, [audio, vector]);
    assertRefused(
      answer,
      422,
      'unsupported_format',
      /not in a supported format: text\. Supported formats: WAV, /,
    );
    assert.ok(detectionEnded);
    assert.equal(arena.usedBytes, 0);
  });

  test(`${path}: a failure inside detection is 500 and tells nothing`, async (t) => {
    const { port, analyser, arena } = await startTestServer(t);
    analyser.answer = () => {
      throw new Error('the secret cause');
    };
    const answer = await postVoice(port, path, [audio, vector]);
    assertRefused(answer, 500, 'internal_error', /failed inside the server/);
    assert.doesNotMatch(answer.text, /secret/);
    assert.equal(arena.usedBytes, 0);
  });

  test(`${path}: a client that goes away aborts both analyses, and the memory comes back`, async (t) => {
    const server: TestServer = await startTestServer(t);
    const { port, analyser, arena } = server;
    const untilAborted = async ({ signal }: { signal: AbortSignal }): Promise<never> => {
      while (!signal.aborted) await nextTick();
      throw signal.reason;
    };
    analyser.answer = untilAborted;
    analyser.answerVoice = untilAborted;
    const abort = new AbortController();
    const form = new FormData();
    form.append('audio_file', new Blob(['some audio']), 'voice.wav');
    form.append('voice_vector', JSON.stringify(Array.from(voiceprint)));
    const headers = { 'x-api-key': API_KEY };
    const url = `${server.origin}${path}`;
    const gone = assert.rejects(fetch(url, { method: 'POST', headers, body: form, signal: abort.signal }));
    while (analyser.running < 2) await nextTick();
    abort.abort();
    await gone;
    while (analyser.running > 0 || arena.usedBytes > 0) await nextTick();
    assert.equal((await request(port, '/livez')).status, 200);
  });
}

const badVectors: readonly [what: string, entry: FormEntry | undefined, message: RegExp][] = [
  ['no voice_vector', undefined, /no field voice_vector/],
  [
    '255 numbers',
    vectorEntry(voiceprint.subarray(1)),
    /for voice_vector but received an array of length 255/,
  ],
  ['257 numbers', vectorEntry([...voiceprint, 0]), /received an array of length 257/],
  ['zeros', vectorEntry(new Float32Array(256)), /received 256 zeros/],
  ['words', field('voice_vector', 'none'), /for voice_vector but received/],
  ['more than 64 KiB', field('voice_vector', '1'.repeat(65_537)), /voice_vector exceeds the limit of 65536/],
];
for (const [what, entry, message] of badVectors) {
  test(`verify: ${what} is 400, and the sample is not looked at`, async (t) => {
    const { port, analyser, arena } = await startTestServer(t);
    const answer = await verify(port, entry === undefined ? [audio] : [audio, entry]);
    assertRefused(answer, 400, 'validation_error', message);
    assert.equal(analyser.requests.length, 0);
    assert.equal(arena.usedBytes, 0);
  });
}

test('verify: a voiceprint of another model is 400, never a similarity', async (t) => {
  const { port, analyser } = await startTestServer(t);
  const other = new VoiceprintSpace('1'.repeat(64)).voiceprintOf(someEmbedding.embedding as Float32Array);
  for (const foreign of [other, someEmbedding.embedding as Float32Array]) {
    const answer = await verify(port, [audio, vectorEntry(foreign)]);
    assertRefused(answer, 400, 'validation_error', /embedding made by voiceprint-1-2026-11-22 .* Enroll/);
  }
  assert.equal(analyser.requests.length, 0);
});

const speech: readonly [post: typeof enroll, speechS: number, message: RegExp][] = [
  [enroll, 2.99, /contains 2\.99 s of speech; at least 3 s/],
  [enroll, 0, /contains 0 s of speech; at least 3 s/],
  [verify, 0.99, /contains 0\.99 s of speech; at least 1 s/],
];
for (const [post, speechS, message] of speech) {
  test(`${post === enroll ? 'enroll' : 'verify'}: ${speechS} s of speech are 400`, async (t) => {
    const { port, analyser } = await startTestServer(t);
    analyser.answer = () => ({ ...human, speechRatio: speechS / human.durationS });
    analyser.answerVoice = () => ({ ...someEmbedding, speechS, embedding: undefined, windows: [] });
    assertRefused(await post(port, [audio, vector]), 400, 'validation_error', message);
  });
}

test('a mean of embeddings that cancel each other out is a failure, not an answer', async (t) => {
  const { port, analyser } = await startTestServer(t);
  analyser.answer = () => human;
  analyser.answerVoice = () => ({ ...someEmbedding, embedding: undefined });
  assertRefused(await enroll(port, [audio]), 500, 'internal_error', /not a finite number/);
});

test('a speaker model in the configuration that is not loaded stops the start', async (t) => {
  await assert.rejects(
    startTestServer(t, { speakerModel: 'voiceprint-9' }),
    /\(voiceprint-1-2026-11-22\) for VERAVOX_SPEAKER_MODEL but received voiceprint-9/,
  );
});
