// SPDX-License-Identifier: Apache-2.0
//
// A refusal says what to do: the other place of a file, the right route for it, its likely type.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { VeravoxClient, VeravoxError } from '../../client/src/index.js';
import { foreignFormat } from '../../src/analysis/prepare/foreign-format.js';
import { errorsOf } from '../../src/api/openapi/responses.js';
import { fileEntry, formBody, noise } from '../support/form-body.js';
import { postForm, predict, request } from '../support/http-client.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { API_KEY, startTestServer } from '../support/test-server.js';
import { audioEntry, enroll } from '../support/voiceid-client.js';

const curl = promisify(execFile);

test('a file in the wrong field is found, and the right field is named', async (t) => {
  const { port } = await startTestServer(t);
  const toPredict = await predict(port, formBody([audioEntry('x')]));
  assert.equal(toPredict.status, 400);
  assert.equal(
    toPredict.json.message,
    'The form has no file in the field file. There is one in the field "audio_file": send it as file.',
  );
  const toEnroll = await enroll(port, [fileEntry('x')]);
  assert.equal(
    toEnroll.json.message,
    'The form has no file in the field audio_file. There is one in the field "file": send it as audio_file.',
  );
  const none = await predict(port, formBody([{ name: 'device', content: 'api' }]));
  assert.equal(none.json.message, 'The form has no file in the field file.');
});

test('a large file in the wrong field is told where it belongs, unless the file came before', async (t) => {
  const { port } = await startTestServer(t);
  const large = noise(100_000);
  const wrong = await predict(port, formBody([audioEntry(large)]));
  assert.equal(wrong.status, 400);
  assert.equal(
    wrong.json.message,
    'The field audio_file exceeds the limit of 65536 bytes. If it is the file, send it in the field file.',
  );
  for (const entries of [[fileEntry('x'), audioEntry(large)], [{ name: 'user_id', content: large }]]) {
    const { json } = await predict(port, formBody(entries));
    assert.match(json.message, /exceeds the limit of 65536 bytes\.$/);
  }
});

test('with curl, the forms that people get wrong once are explained', async (t) => {
  const { port } = await startTestServer(t);
  const file = path.join(temporaryFolder(t), 'a.wav');
  writeFileSync(file, noise(100_000));
  const send = async (route: string, field: string): Promise<string> => {
    const args = ['-sS', '-H', `x-api-key: ${API_KEY}`, '-F', field, `http://127.0.0.1:${port}${route}`];
    return JSON.parse((await curl('curl', args)).stdout).message;
  };
  assert.match(await send('/v1/predict', `audio_file=@${file}`), /send it in the field file\.$/);
  assert.match(await send('/v1/voiceid/verify', `file=@${file}`), /send it in the field audio_file\.$/);
  assert.equal(
    await send('/v1/predict', `file=${file}`),
    'The form has no file in the field file. It holds text without a file name: with curl, an @ goes before the name of a file.',
  );
});

test('an address with the version twice says so', async (t) => {
  const { port } = await startTestServer(t);
  for (const [address, message] of [
    ['/v1/v1/predict', /^There is no resource at \/v1\/v1\/predict\. The path contains two versions: /],
    ['/v1/v0/file', /two versions/],
    ['/v1/v1', /two versions/],
    ['/v1/predictions', /^There is no resource at \/v1\/predictions\.$/],
    [`/${'x'.repeat(1000)}`, /^There is no resource at \/x{199}\.$/],
  ] as const) {
    const answer = await request(port, address, { method: 'POST', headers: { 'x-api-key': API_KEY } });
    assert.equal(answer.status, 404);
    assert.match(answer.json.message, message);
  }
});

test('a file that is too large by form is sent to the route for large ones', async (t) => {
  const { port } = await startTestServer(t, { maxPredictBytes: 1000 });
  const { status, json } = await predict(port, formBody([fileEntry(noise(2000))]));
  assert.equal(status, 413);
  assert.equal(
    json.message,
    'The file exceeds the limit of 1000 bytes. POST /v1/predict/large-file takes larger ones, and POST /v1/jobs the largest.',
  );
});

test('a file that is too large by link is not sent to a route that takes no links', async (t) => {
  const { port, origin } = await startTestServer(t, { maxPredictBytes: 1000 });
  const client = new VeravoxClient({ baseUrl: origin, apiKey: API_KEY });
  const [upload] = (await client.createUploadLinks(['a.wav'])).url;
  assert.ok(upload);
  await client.upload(upload, noise(2000));
  const [download] = (await client.getDownloadLinks('a.wav')).url;
  const body = Buffer.from(JSON.stringify({ presigned_url: download?.value }));
  const headers = { 'x-api-key': API_KEY, 'content-type': 'application/json' };
  const { status, json } = await request(port, '/v1/predict', { method: 'POST', headers, body });
  assert.equal(status, 413);
  assert.equal(
    json.message,
    'The file exceeds the limit of 1000 bytes. POST /v1/predict/large-file takes larger ones, and POST /v1/jobs the largest.',
  );
});

test('what is no recording is named where it is obvious', () => {
  const formats: [bytes: string | Uint8Array, name: string | undefined][] = [
    ['<!DOCTYPE html><html>', 'an HTML page'],
    ['\ufeff \r\n<HTML><body>', 'an HTML page'],
    ['<?xml version="1.0"?><Error>', 'XML'],
    ['{"error":"x"}', 'JSON'],
    ['# Readme\n', 'text'],
    ['ID,path\n1,a.wav\n', 'text'],
    ['Überschrift\n', 'text'],
    ['#EXTM3U\nhttp://a/b', 'a playlist'],
    ['%PDF-1.7\n%\xe2\xe3', 'a PDF document'],
    [Buffer.from('504b0304140000000800', 'hex'), 'a ZIP archive, or an Office document'],
    [Buffer.from('1f8b0800000000000003', 'hex'), 'a gzip archive'],
    [Buffer.from('89504e470d0a1a0a', 'hex'), 'a PNG picture'],
    [Buffer.from('ffd8ffe000104a464946', 'hex'), 'a JPEG picture'],
    [Buffer.from('3026b2758e66cf11a6d9', 'hex'), 'a WMA or WMV file'],
    ['FORM\0\0\0\x10AIFF', 'an AIFF file'],
    ['FORMs to fill in', 'text'],
    ['.snd\0\0\0\x18', 'a Sun AU file'],
    [Buffer.from('726966662e91cf11a5d628db04c10000', 'hex'), 'a Wave64 file'],
    ['Creative Voice File\x1a\x1a\0', 'a VOC file'],
    [Buffer.from('0b77a3c21440', 'hex'), 'a Dolby Digital (AC-3) stream'],
    [Buffer.from('000001ba44000400', 'hex'), 'an MPEG program stream'],
    [
      Buffer.alloc(512, Buffer.from('47401110', 'hex').toString('latin1').padEnd(188, '\0'), 'latin1'),
      'an MPEG transport stream',
    ],
    ['G'.repeat(512), 'text'],
    ['', undefined],
    [noise(4000), undefined],
    [new Uint8Array(4000), undefined],
  ];
  for (const [bytes, name] of formats) {
    const given = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    assert.equal(foreignFormat(given), name, JSON.stringify(bytes.slice(0, 20)));
  }
});

test('every error of ours carries its key, which is one that is documented for the route', async (t) => {
  const { port, server } = await startTestServer(t, { maxPredictBytes: 1000 });
  const key = { 'x-api-key': API_KEY };
  const json = { ...key, 'content-type': 'application/json' };
  const post = (target: string, headers: Record<string, string>, body: string | Uint8Array) =>
    request(port, target, { method: 'POST', headers, body: Buffer.from(body as Uint8Array) });
  const answers = {
    NOT_FOUND: await request(port, '/nowhere'),
    METHOD_NOT_ALLOWED: await request(port, '/v1/predict'),
    UNAUTHORIZED: await post('/v1/predict', {}, ''),
    UNAUTHORIZED_LEGACY: await post('/v0/predict', {}, ''),
    JSON_MALFORMED: await post('/v1/predict', json, '{'),
    FIELD_INVALID: await post('/v1/predict', json, '{}'),
    CONTENT_TYPE_INVALID: await post('/v1/predict', { ...key, 'content-type': 'text/plain' }, 'x'),
    FILE_TOO_LARGE: await predict(port, formBody([fileEntry(noise(2000))])),
    FILE_EMPTY: await predict(port, formBody([fileEntry('')])),
    FILE_TOO_SMALL: await postForm(port, '/v1/predict/large-file', formBody([fileEntry('x')])),
    ACCESS_DENIED: await request(port, '/veravox/a'),
  };
  for (const [errorKey, { status, headers }] of Object.entries(answers)) {
    assert.ok(status >= 400, errorKey);
    assert.equal(headers['x-error-key'], errorKey);
    assert.ok(headers['x-correlation-id'], errorKey);
  }
  const known = new Set(server.routes.flatMap((route) => [...errorsOf(route)]));
  assert.ok([...known].length > 40);
  const good = await predict(port, formBody([fileEntry('x')]));
  assert.equal(good.status, 200);
  assert.equal(good.headers['x-error-key'], undefined);
});

test('the client tells the key, where there is one', async (t) => {
  const { origin } = await startTestServer(t);
  const client = new VeravoxClient({ baseUrl: `${origin}/v1/`, apiKey: API_KEY });
  const refusal = await client.predict(new Uint8Array(10), { threshold: 2 }).catch((error: unknown) => error);
  assert.ok(refusal instanceof VeravoxError);
  assert.deepEqual([refusal.code, refusal.errorKey], ['validation_error', 'FIELD_INVALID']);
});

test('a form to large-file without a file is told so, and one with a small file that it is small', async (t) => {
  const { port } = await startTestServer(t);
  const send = (form: Buffer) => postForm(port, '/v1/predict/large-file', form);
  const empty = await send(formBody([]));
  assert.equal(empty.json.message, 'The form has no file in the field file.');
  const small = await send(formBody([fileEntry('x')]));
  assert.match(small.json.message, /smaller than the minimum/);
});
