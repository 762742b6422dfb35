// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultModel } from '../../../src/base/contract/model-ids.js';
import { type FormEntry, fileEntry, formBody } from '../../support/form-body.js';
import { predict, request } from '../../support/http-client.js';
import { API_KEY, startTestServer } from '../../support/test-server.js';

const file = fileEntry('x');
const field = (name: string, content: string): FormEntry => ({ name, content });

test('values outside a field’s range are 400 and say what was expected and received', async (t) => {
  const { port, analyser } = await startTestServer(t);
  const cases: [name: string, value: string, message: RegExp][] = [
    [
      'threshold',
      '1.01',
      /^Expected a number from 0 to 1 or the name of an operating point for threshold but received "1\.01"\.$/,
    ],
    ['threshold', '-0.1', /threshold but received "-0\.1"/],
    ['threshold', '0x1', /"0x1"/],
    ['threshold', ' 0.5', /" 0\.5"/],
    ['threshold', '0,5', /"0,5"/],
    ['threshold', 'NaN', /"NaN"/],
    ['threshold', 'Infinity', /"Infinity"/],
    ['threshold', '1e999', /"Infinity"/],
    ['threshold', 'true', /^Expected a number from 0 to 1 or the name of .* "true"/],
    ['threshold', 'null', /^Expected a number from 0 to 1 or the name of .* "null"/],
    ['threshold', '', /an empty value/],
    [
      'silence_threshold',
      '100.5',
      /^Expected a number from 0 to 100 for silence_threshold but received "100\.5"\.$/,
    ],
    ['silence_threshold', '-1', /"-1"/],
    [
      'device',
      'toaster',
      /^Expected one of macos, windows, web_app, api for device but received "toaster"\.$/,
    ],
    ['device', 'API', /"API"/],
    [
      'model',
      'gpt',
      /^Expected one of apollo-4-5-2026-03-26, apollo-4-2026-01-16 for model but received "gpt"\.$/,
    ],
    ['model', 'apollo-4-2025-10-20', /model but received/],
    ['prediction_id', '', /for prediction_id but received an empty value/],
    ['prediction_id', 'a b', /"a b"/],
    ['prediction_id', 'a\n', /"a\\n"/],
    ['prediction_id', 'a'.repeat(129), /for prediction_id/],
    ['prediction_id', 'ü', /"ü"/],
  ];
  for (const [name, value, message] of cases) {
    const answer = await predict(port, formBody([field(name, value), file]));
    assert.equal(answer.status, 400, `${name}=${value}`);
    assert.equal(answer.json.error, 'validation_error');
    assert.match(answer.json.message, message);
  }
  assert.equal(analyser.requests.length, 0);
});

test('a known field twice, a large field and a missing file are 400', async (t) => {
  const { port, arena } = await startTestServer(t);
  const cases: [entries: FormEntry[], message: RegExp][] = [
    [
      [file, field('threshold', '0.5'), field('threshold', '0.5')],
      /field threshold was given more than once/,
    ],
    [[file, file], /field file was given more than once/],
    [[field('threshold', '0.5')], /no file in the field file/],
    [[field('file', '/home/me/a.wav')], /no file in the field file/],
    [[fileEntry('')], /file in the field file is empty/],
    [[field('note', 'x'.repeat(65_537)), file], /field note exceeds the limit of 65536 bytes/],
    [[file, field('threshold', '1'.repeat(65_537))], /field threshold exceeds/],
  ];
  for (const [entries, message] of cases) {
    const answer = await predict(port, formBody(entries));
    assert.equal(answer.status, 400);
    assert.match(answer.json.message, message);
  }
  assert.equal(arena.usedBytes, 0);
});

test('other content-types and broken forms are 400', async (t) => {
  const { port } = await startTestServer(t);
  const cases: [contentType: string | undefined, message: RegExp][] = [
    ['text/plain', /of multipart\/form-data or application\/json but received text\/plain/],
    [undefined, /but received none/],
    ['multipart/form-data', /no valid boundary/],
    ['multipart/form-data; boundary=other', /final boundary is missing/],
  ];
  for (const [contentType, message] of cases) {
    const headers = { 'x-api-key': API_KEY, ...(contentType && { 'content-type': contentType }) };
    const answer = await request(port, '/v1/predict', { method: 'POST', headers, body: formBody([file]) });
    assert.equal(answer.status, 400);
    assert.match(answer.json.message, message);
  }
  const empty = await predict(port, new Uint8Array(0));
  assert.equal(empty.status, 400);
});

test('without fields the documented defaults hold', async (t) => {
  const { port, analyser } = await startTestServer(t, { maxPredictDurationS: 123 });
  const answer = await predict(port, formBody([file]));
  assert.equal(answer.status, 200);
  const [analysed] = analyser.requests;
  assert.equal(analysed?.model, 'apollo-4-5-2026-03-26');
  assert.equal(analysed?.silenceThresholdPercent, 80);
  assert.equal(analysed?.minDurationS, 1);
  assert.equal(analysed?.maxDurationS, 123);
});

test('every field reaches what it is for, in any order, before and after the file', async (t) => {
  const { port, analyser } = await startTestServer(t);
  const fields = [
    field('device', 'web_app'),
    field('model', 'apollo-4-2026-01-16'),
    field('prediction_id', 'My.own:id_1-2'),
    field('threshold', '0.975'),
    field('silence_threshold', '1e1'),
    field('unknown', 'is ignored'),
    field('unknown', 'even twice'),
  ];
  for (const entries of [
    [...fields, file],
    [file, ...fields].reverse(),
    [...fields.slice(3), file, ...fields.slice(0, 3)],
  ]) {
    const answer = await predict(port, formBody(entries));
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.json.prediction_id, 'My.own:id_1-2');
    assert.equal(answer.json.model, 'apollo-4-2026-01-16');
    assert.equal(analyser.requests.at(-1)?.silenceThresholdPercent, 10);
    assert.deepEqual(
      answer.json.segments.map((segment: { result: string }) => segment.result),
      ['spoofed', 'bonafide'],
    );
  }
});

test('thresholds at both ends of their range are valid', async (t) => {
  const { port } = await startTestServer(t);
  for (const [threshold, result] of [
    ['0', 'spoofed'],
    ['1', 'bonafide'],
    ['.5', 'spoofed'],
    ['+1.', 'bonafide'],
  ] as const) {
    const answer = await predict(
      port,
      formBody([file, field('threshold', threshold), field('silence_threshold', '100')]),
    );
    assert.equal(answer.json.global.result, result);
  }
});

test('requests that name no model get the contract’s default, or the first of an operator’s own', () => {
  const mine = { id: 'mine', aliases: ['another'] };
  assert.equal(defaultModel([mine, { id: 'apollo-4-5-2026-03-26', aliases: [] }]), 'apollo-4-5-2026-03-26');
  assert.equal(
    defaultModel([mine, { id: 'b', aliases: ['apollo-4-5-2026-03-26'] }]),
    'apollo-4-5-2026-03-26',
  );
  assert.equal(defaultModel([mine, { id: 'other', aliases: [] }]), 'mine');
});
