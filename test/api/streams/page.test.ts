// SPDX-License-Identifier: Apache-2.0
//
// docs/stream.md: its messages match the schemas, and its Python program works as described, with the scores of a file.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { loadAddon } from '../../../src/base/addon/addon.js';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { predictFieldSchemas } from '../../../src/base/contract/predict-fields.js';
import {
  endMessage,
  resumeMessage,
  type ServerMessage,
  serverMessages,
  type WindowMessage,
} from '../../../src/base/contract/stream.js';
import { streamTicket } from '../../../src/base/contract/stream-endpoints.js';
import { streamFieldSchemas, streamRequired } from '../../../src/base/contract/stream-fields.js';
import { breakingProxy } from '../../support/breaking-proxy.js';
import { fileEntry, formBody } from '../../support/form-body.js';
import { predict } from '../../support/http-client.js';
import { startPipelineServer } from '../../support/pipeline-server.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { API_KEY } from '../../support/test-keys.js';
import { until } from '../../support/until.js';
import { monoWav, repeated } from '../../support/wav.js';

const run = promisify(execFile);
const page = fs.readFileSync(path.join(packageDir, 'docs/stream.md'), 'utf8');
const detectors = [{ id: 'a', aliases: [] }];

test('every message is shown once, as its schema says', () => {
  const start = {
    type: 'object',
    properties: { type: { const: 'start' }, ...streamFieldSchemas(detectors) },
    required: ['type', ...streamRequired],
    additionalProperties: false,
  };
  const schemas = [start, resumeMessage, endMessage, ...serverMessages, streamTicket];
  const ajv = new Ajv({ allowUnionTypes: true, keywords: ['expected', 'nullInForm'] });
  const shown = [...page.matchAll(/^```json\n([\s\S]*?)^```/gm)].map(([, json = '']) => JSON.parse(json));
  const fitting = shown.map((message) => {
    const fits = schemas.filter((schema) => ajv.validate(schema, message));
    assert.equal(fits.length, 1, JSON.stringify(message));
    return fits[0];
  });
  assert.equal(new Set(fitting).size, schemas.length);
});

test('every parameter is explained', () => {
  for (const name of Object.keys(streamFieldSchemas(detectors)))
    assert.ok(page.includes(`\`${name}\``), name);
  assert.ok(Object.keys(predictFieldSchemas(detectors)).includes('prediction_id'));
});

test('the Python program gets the scores of a file, also over a lost connection', async (t) => {
  const { port } = await startPipelineServer(t);
  const speech = loadAddon().decode(
    fs.readFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.flac')),
  ).samples;
  const wav = monoWav(repeated(speech, 16_000 * 23), 16_000);
  const file = path.join(temporaryFolder(t), 'call.wav');
  fs.writeFileSync(file, wav);
  const { json } = await predict(port, formBody([fileEntry(wav)]));
  const breaking = await breakingProxy(t, port);
  const program = path.join(packageDir, 'docs/examples/stream.py');
  const running = run('/usr/bin/python3', [program, `ws://127.0.0.1:${breaking.port}`, API_KEY, file, '8']);
  let hasFailed = false;
  running.catch(() => {
    hasFailed = true;
  });
  // After part of the audio.
  await until(() => breaking.bytesToServer > 100_000 || hasFailed);
  breaking.breakAll();
  const { stdout } = await running;
  const messages = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ServerMessage);
  assert.ok(messages.some(({ type }) => type === 'resumed'));
  const windows = messages.filter((message): message is WindowMessage => message.type === 'window');
  assert.deepEqual(
    windows.map(({ start, end, scores, confidence, result }) => ({ start, end, scores, confidence, result })),
    json.segments,
  );
  const result = messages.at(-1);
  assert.ok(result?.type === 'result');
  assert.deepEqual([result.global, result.audio_duration], [json.global, json.audio_duration]);
});
