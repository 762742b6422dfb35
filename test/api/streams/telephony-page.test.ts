// SPDX-License-Identifier: Apache-2.0
//
// docs/telephony.md: its messages are understood, its events match the schemas, and its program gets the scores of a file for each leg.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { mediaMessage } from '../../../src/api/streams/media-message.js';
import { loadAddon } from '../../../src/base/addon/addon.js';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { type CallEvent, callEvents } from '../../../src/base/contract/call.js';
import { fileEntry, formBody } from '../../support/form-body.js';
import { predict } from '../../support/http-client.js';
import { startPipelineServer } from '../../support/pipeline-server.js';
import { ffmpegInto } from '../../support/recordings.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { API_KEY } from '../../support/test-keys.js';
import { monoWav, repeated } from '../../support/wav.js';

const run = promisify(execFile);
const page = fs.readFileSync(path.join(packageDir, 'docs/telephony.md'), 'utf8');
const shown = [...page.matchAll(/^```json\n([\s\S]*?)^```/gm)].map(([, json = '']) => JSON.parse(json));

test('every event is shown once, as its schema says', () => {
  const ajv = new Ajv({ allowUnionTypes: true });
  const fitting = shown
    .filter((message) => 'type' in message)
    .map((message) => {
      const fits = callEvents.filter((schema) => ajv.validate(schema, message));
      assert.equal(fits.length, 1, JSON.stringify(message));
      return fits[0];
    });
  assert.deepEqual([fitting.length, new Set(fitting).size], [callEvents.length, callEvents.length]);
});

test('the messages of providers mean what the page says', () => {
  const read = shown
    .filter((message) => 'event' in message && !('type' in message))
    .map((message) => mediaMessage(Buffer.from(JSON.stringify(message))));
  const parameters = { threshold: '0.7' };
  assert.deepEqual(read, [
    { event: 'start', ids: ['MZ7c1e', 'CA5d0e'], encoding: 'mulaw', parameters },
    {
      event: 'start',
      ids: ['0c2f4b1a-8d0e-4a57-9f6d-3b5e7a912c44', 'v3:mS9dKq2'],
      encoding: 'alaw',
      parameters,
    },
    { event: 'media', leg: 'inbound', atMs: 400, bytes: Buffer.alloc(8, 0x7e) },
    { event: 'stop' },
  ]);
});

test('the program gets the scores of a file for each leg', async (t) => {
  const { port } = await startPipelineServer(t);
  const folder = temporaryFolder(t);
  const convert = ffmpegInto(folder);
  const leg = (name: string, seconds: number): string => {
    const clip = fs.readFileSync(path.join(packageDir, `test/fixtures/${name}.flac`));
    const file = path.join(folder, `${name}.wav`);
    fs.writeFileSync(file, monoWav(repeated(loadAddon().decode(clip).samples, 16_000 * seconds), 16_000));
    return convert(file, ['-ar', '8000', '-c:a', 'pcm_mulaw', `${name}-8k.wav`]);
  };
  const legs = { inbound: leg('human-lj-a', 12), outbound: leg('human-lj-b', 12) };
  const call = convert(legs.inbound, [
    ...['-i', legs.outbound, '-filter_complex', '[0][1]amerge=inputs=2'],
    ...['-c:a', 'pcm_mulaw', 'call.wav'],
  ]);
  const program = path.join(packageDir, 'docs/examples/call.mjs');
  const { stdout } = await run(process.execPath, [program, `http://127.0.0.1:${port}`, API_KEY, call, '4']);
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as CallEvent);
  assert.equal(events.at(-1)?.type, 'end');
  for (const [name, file] of Object.entries(legs)) {
    const { json } = await predict(port, formBody([fileEntry(fs.readFileSync(file))]));
    const ofLeg = events.filter((event) => 'leg' in event && event.leg === name);
    const windows = ofLeg.flatMap((event) => (event.type === 'window' ? [event] : []));
    assert.deepEqual(
      windows.map(({ start, end, scores, confidence, result }) => ({
        start,
        end,
        scores,
        confidence,
        result,
      })),
      json.segments,
    );
    const result = ofLeg.at(-1);
    assert.ok(result?.type === 'result');
    assert.deepEqual([result.global, result.audio_duration], [json.global, json.audio_duration]);
  }
});
