// SPDX-License-Identifier: Apache-2.0
//
// `POST /v1/profiles`: what is refused, what is saved, and how much of the server a request may take.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { eventually } from '../../support/eventually.js';
import { FORM_TYPE, type FormEntry, fileEntry, formBody } from '../../support/form-body.js';
import { RawClient } from '../../support/http-client.js';
import { detectors, generated, genuine, startProfileServer } from '../../support/profile-server.js';
import { API_KEY, KEY_WITHOUT_SCOPE } from '../../support/test-server.js';

const [small, medium] = detectors.map(({ id }) => id) as [string, string];
/** Six of ten are flagged. */
const channel = [...genuine(6), ...genuine(4, 'fine')];

test('wrong requests are refused before anything is analysed', async (t) => {
  const server = await startProfileServer(t, { maxPredictBytes: 2000 });
  const cases: [name: string, files: ReturnType<typeof genuine>, key: string, message: RegExp][] = [
    ['studio', [], 'FILE_MISSING', /no file in the field file/],
    ['studio', generated(10, 'flagged'), 'FILE_MISSING', /There is one in the field "generated"/],
    ['studio', genuine(9), 'FIELD_INVALID', /at least 10 files for file but received 9\./],
    ['studio', genuine(101), 'FIELD_INVALID', /at most 100 files for file but received 101\./],
    ['studio', [...channel, ...generated(101, 'fine')], 'FIELD_INVALID', /at most 100 files for generated/],
    ['studio', genuine(300), 'MULTIPART_LIMIT', /more than 216 parts, 215 of them with the name "file"/],
    ['Studio', channel, 'FIELD_INVALID', /a letter first.* for name but received "Studio"\./],
    ['studio', [...genuine(10), ...genuine(1, '')], 'FILE_EMPTY', /is empty/],
    ['studio', genuine(10, 'x'.repeat(2001)), 'FILE_TOO_LARGE', /2000 bytes/],
    // A hint to send it as a genuine recording would spoil the profile.
    ['studio', [...generated(1, 'x'.repeat(2001)), ...channel], 'FILE_TOO_LARGE', /2000 bytes\.\s*$/],
  ];
  for (const [name, files, key, message] of cases) {
    const { headers, json } = await server.make(name, files);
    assert.match(json.message, message);
    assert.equal(headers['x-error-key'], key, json.message);
  }
  const unknown = await server.make('studio', channel, API_KEY, 'detector-none');
  assert.match(unknown.json.message, /for model but received "detector-none"/);
  assert.equal((await server.make('studio', channel, KEY_WITHOUT_SCOPE)).status, 403);
  assert.equal(server.analyser.requests.length, 0);
  assert.deepEqual(await server.table.usableBy('one'), []);
});

test('a detector without vectors has no profiles', async (t) => {
  const server = await startProfileServer(t, {}, ['detector-of-others']);
  const { headers, json } = await server.make('studio', channel);
  assert.equal(headers['x-error-key'], 'FIELD_INVALID');
  assert.match(json.message, /a detector that can have profiles for model but received detector-of-others/);
});

test('recordings together over the limit are refused by their declared size, and as they come', async (t) => {
  const server = await startProfileServer(t, { maxLargeFileBytes: 20_000 });
  const files = genuine(100, 'x'.repeat(6000));
  const declared = await server.make('studio', files);
  assert.equal(declared.headers['x-error-key'], 'BODY_TOO_LARGE');
  const body = formBody([{ name: 'name', content: 'studio' }, ...files]);
  const client = await RawClient.connect(server.port);
  const head = `POST /v1/profiles HTTP/1.1\r\nhost: x\r\nx-api-key: ${API_KEY}\r\ncontent-type: ${FORM_TYPE}\r\ntransfer-encoding: chunked\r\n\r\n`;
  await client.write(head);
  await client.write(`${body.length.toString(16)}\r\n`);
  await client.write(body.toString('latin1'));
  assert.match(await client.until(/\}\r\n/), /^HTTP\/1\.1 413 /);
  client.socket.destroy();
  await eventually(() => server.arena.usedBytes === 0, 'its memory is free');
});

test('a profile without a gain, or at too high a cost, is not saved', async (t) => {
  const server = await startProfileServer(t);
  const cases: [files: ReturnType<typeof genuine>, message: RegExp][] = [
    [
      genuine(10, 'fine'),
      /^The profile is not saved: none of the genuine recordings is flagged without it\.$/,
    ],
    [
      genuine(10, 'unlike'),
      /: it helps none of the recordings left out: 10 of 10 are flagged without it, 10 with it\.$/,
    ],
    [
      [...channel, ...generated(5, 'flagged')],
      /: it lets too much AI-generated speech pass: 5 of 5, 0 without it\.$/,
    ],
  ];
  for (const [files, message] of cases) {
    const { status, headers, json } = await server.make('studio', files);
    assert.match(json.message, message);
    assert.deepEqual([status, headers['x-error-key']], [422, 'PROFILE_NOT_WORTHWHILE']);
  }
  assert.deepEqual(await server.table.usableBy('one'), []);
  assert.deepEqual(server.acts, []);
});

test('recordings that cannot be used are named, and too few others are refused', async (t) => {
  const server = await startProfileServer(t);
  const few = await server.make('studio', [
    ...genuine(9),
    ...genuine(1, 'NO_SPEECH'),
    ...genuine(1, 'UNDECODABLE'),
  ]);
  assert.equal(few.headers['x-error-key'], 'PROFILE_RECORDINGS_INSUFFICIENT');
  assert.match(
    few.json.message,
    /at least 10 .*; 9 of 11 can be used. Left out: 9: NO_SPEECH, 10: UNDECODABLE\./,
  );
  const files = [
    ...channel,
    ...genuine(1, 'AUDIO_TOO_SHORT'),
    ...generated(3, 'elsewhere'),
    ...generated(1, 'NO_SPEECH'),
  ];
  const { status, json } = await server.make('studio', files);
  assert.equal(status, 201, json.message);
  const leftOut = json.left_out.map(({ field, index, key }: Record<string, unknown>) => [field, index, key]);
  assert.deepEqual(leftOut, [
    ['file', 10, 'AUDIO_TOO_SHORT'],
    ['generated', 3, 'NO_SPEECH'],
  ]);
  assert.deepEqual(json.recordings, { genuine: 10, generated: 3 });
  assert.equal(json.measured.passed_own.with.of, 3);
});

test('copies of a recording count once, in whatever field', async (t) => {
  const server = await startProfileServer(t);
  const copies = Array.from({ length: 10 }, () => fileEntry('flagged'));
  const few = await server.make('studio', copies);
  assert.equal(few.headers['x-error-key'], 'PROFILE_RECORDINGS_INSUFFICIENT');
  assert.match(few.json.message, /; 1 of 10 can be used\. Left out: 1: RECORDING_REPEATED, 2: /);
  const [twice] = generated(1, 'elsewhere');
  const both = twice === undefined ? [] : [twice, twice];
  const { status, json } = await server.make('studio', [...channel, ...channel.slice(0, 2), ...both]);
  assert.equal(status, 201, json.message);
  assert.deepEqual(
    json.left_out.map(({ field, index, key }: Record<string, unknown>) => [field, index, key]),
    [
      ['file', 10, 'RECORDING_REPEATED'],
      ['file', 11, 'RECORDING_REPEATED'],
      ['generated', 1, 'RECORDING_REPEATED'],
    ],
  );
  assert.deepEqual(json.recordings, { genuine: 10, generated: 1 });
});

test('a single AI-generated recording of the client that would pass is too many', async (t) => {
  const server = await startProfileServer(t);
  for (const file of [...generated(1, 'flagged'), { ...channel[0], name: 'generated' } as FormEntry]) {
    const { headers, json } = await server.make('studio', [...channel, file]);
    assert.equal(headers['x-error-key'], 'PROFILE_NOT_WORTHWHILE');
    assert.match(json.message, /pass: 1 of 1, 0 without it/);
  }
  assert.deepEqual(await server.table.usableBy('one'), []);
});

test('requests for the same name at the same time each answer with their own version', async (t) => {
  const server = await startProfileServer(t);
  const answers = await Promise.all(Array.from({ length: 4 }, () => server.make('studio', channel)));
  assert.deepEqual(answers.map(({ json }) => json.version).toSorted(), [1, 2, 3, 4]);
  for (const { json } of answers) assert.equal(json.versions[0].version, json.version);
  assert.equal((await server.call('GET', '/v1/profiles/studio')).json.version, 4);
});

test('a client that has gone leaves no profile behind', async (t) => {
  const server = await startProfileServer(t);
  const { answer } = server.analyser;
  let finish = (): void => {};
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  server.analyser.answer = (request) => gate.then(() => answer(request));
  const body = formBody([{ name: 'name', content: 'studio' }, ...channel]);
  const client = await RawClient.connect(server.port);
  await client.write(
    `POST /v1/profiles HTTP/1.1\r\nhost: x\r\nx-api-key: ${API_KEY}\r\ncontent-type: ${FORM_TYPE}\r\ncontent-length: ${body.length}\r\n\r\n`,
  );
  await client.write(body.toString('latin1'));
  await eventually(() => server.analyser.running === 1, 'it is analysed');
  client.socket.destroy();
  await eventually(() => server.analyser.requests[0]?.signal.aborted === true, 'it is known to be gone');
  finish();
  await eventually(() => server.arena.usedBytes === 0, 'its memory is free');
  assert.deepEqual([await server.table.usableBy('one'), server.acts], [[], []]);
});

test('a fault of the server is no fault of a recording', async (t) => {
  const server = await startProfileServer(t);
  for (const key of ['QUEUE_DEADLINE', 'OVERLOADED', 'NON_FINITE_OUTPUT']) {
    const { headers } = await server.make('studio', [...genuine(12), ...genuine(1, key)]);
    assert.equal(headers['x-error-key'], key);
  }
  assert.deepEqual(await server.table.usableBy('one'), []);
});

test('a profile says what it brings, is used at once, and is in the audit without a word of audio', async (t) => {
  const server = await startProfileServer(t);
  const plain = await server.make('studio', channel, API_KEY, medium);
  assert.equal(plain.status, 201, plain.text);
  assert.equal(plain.headers.location, '/v1/profiles/studio');
  const { flagged, passed, passed_own } = plain.json.measured;
  assert.deepEqual([flagged.without.count, flagged.without.of, flagged.with.count], [6, 10, 0]);
  assert.deepEqual([passed.with.of, passed_own], [256, null]);
  assert.ok(passed.with.count <= 1.2 * passed.without.count);
  assert.deepEqual([plain.json.model, plain.json.version, plain.json.shared], [medium, 1, false]);

  const byDefault = await server.make('studio', channel);
  assert.equal(byDefault.json.model, small);
  assert.ok(((await server.scoreWith('studio')) as number) < 0.5);
  assert.equal(await server.scoreWith('unknown'), undefined);
  const acts = [medium, small].map((model) => ({
    event: 'profile_made',
    name: 'studio',
    model,
    version: 1,
    account: 'one',
    keyId: 'key-1',
  }));
  assert.deepEqual(server.acts, acts);
});

test('many recordings are analysed one after the other, in the turns of their key', async (t) => {
  const server = await startProfileServer(t);
  const { answer } = server.analyser;
  let most = 0;
  server.analyser.answer = (request) => {
    most = Math.max(most, server.analyser.running);
    return answer(request);
  };
  const { status } = await server.make('studio', genuine(100));
  const { requests } = server.analyser;
  assert.deepEqual([status, most, requests.length], [201, 1, 100]);
  // Long work leaves one of the threads to short files.
  assert.ok(requests.every(({ owner, longTimeoutMs }) => owner === 'key-1' && longTimeoutMs !== undefined));
});

test('the limit of time is for all recordings together', async (t) => {
  const server = await startProfileServer(t, { largeFileTimeoutMs: 300 });
  const { answer } = server.analyser;
  server.analyser.answer = async (request) => {
    await setTimeout(20, undefined, { signal: request.signal }).catch(() => request.signal.throwIfAborted());
    return answer(request);
  };
  const { headers, json } = await server.make('studio', genuine(100));
  assert.equal(headers['x-error-key'], 'ANALYSIS_TIMEOUT', json.message);
  assert.match(json.message, /within 300 ms/);
  assert.ok(server.analyser.requests.length < 100);
  assert.equal(server.arena.usedBytes, 0);
});

test('such requests together take only their share of the upload memory, and give it back', async (t) => {
  const server = await startProfileServer(t, {
    maxLargeFileBytes: 1 << 20,
    maxVoiceidBytes: 1 << 20,
    maxInflightBytes: 2 << 20,
    maxPredictBytes: 1 << 19,
  });
  let finish = (): void => {};
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const { answer } = server.analyser;
  server.analyser.answer = (request) => gate.then(() => answer(request));
  const files = [...genuine(10), ...generated(2, 'x'.repeat(500_000))];
  const first = server.make('studio', files);
  await eventually(() => server.analyser.running === 1, 'it is analysed');
  const second = await server.make('studio', files);
  assert.equal(second.headers['x-error-key'], 'OVERLOADED', second.text);
  assert.match(second.json.message, /bytes of large files in flight/);
  finish();
  await first;
  await eventually(() => server.arena.usedBytes === 0, 'its memory is free');
  assert.equal((await server.make('studio', channel)).status, 201);
});
