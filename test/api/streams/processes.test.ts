// SPDX-License-Identifier: Apache-2.0
//
// A stream on a server of two processes: a connection to the wrong one is told so, and the stream that continues in the right
// one has the result of a file.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReadyMessage } from '../../../src/base/contract/stream.js';
import { Cli, temporaryFolder } from '../../support/cli.js';
import { formBody } from '../../support/form-body.js';
import { postForm } from '../../support/http-client.js';
import { StreamClient } from '../../support/stream-client.js';
import { writeTinyModels } from '../../support/tiny-models.js';
import { monoWav } from '../../support/wav.js';

const RATE_HZ = 16_000;
const SECONDS = 22;
const PIECE_BYTES = RATE_HZ;
/** Each connection reaches the wrong process with a probability of one half. */
const MAX_CONNECTIONS = 60;

test('a stream is found again behind two processes, and ends as a file does', async (t) => {
  const server = new Cli(['serve'], {
    PORT: '0',
    VERAVOX_PROCESSES: '2',
    VERAVOX_DATA_DIR: temporaryFolder(t),
    VERAVOX_MODELS_DIR: writeTinyModels(temporaryFolder(t), 'even'),
  });
  t.after(async () => {
    server.child.kill('SIGTERM');
    await server.finished;
  });
  const [, found = ''] = await server.printed(/is ready on http:\S+:(\d+)\n/);
  const port = Number(found);
  const [, key = ''] = await server.printed(/^ {2}(vx_\S+)$/m);
  // From then on, either process may get a connection.
  await server.printed(/"msg":"listening".*"msg":"listening"/s);
  const headers = { 'x-api-key': key };

  // The model scores the mean of a window, which differs from one to the next.
  const rising = Float32Array.from({ length: SECONDS * RATE_HZ }, (_, i) => i / (SECONDS * RATE_HZ));
  const wav = monoWav(rising, RATE_HZ);
  const pcm = wav.subarray(44);

  const query = `encoding=pcm16&sample_rate=${RATE_HZ}&silence_threshold=100`;
  let client = await StreamClient.open(port, { path: `/v1/stream?${query}`, headers });
  const ready: ReadyMessage = await client.next('ready');
  let events = 0;
  let connections = 0;
  let elsewhere = 0;

  /** Loses the connection and resumes the stream. @returns the number of bytes the server has */
  const comeBack = async (): Promise<number> => {
    client.vanish();
    await client.finished;
    events += client.messages.filter(({ type }) => type === 'window' || type === 'skipped').length;
    for (;;) {
      assert.ok(++connections <= MAX_CONNECTIONS, `${elsewhere} of ${connections} reached the wrong process`);
      client = await StreamClient.open(port, { headers });
      client.say({ type: 'resume', session_id: ready.session_id, secret: ready.secret, events });
      const answer = await Promise.any([client.next('resumed'), client.next('error')]);
      if (answer.type === 'resumed') return 2 * answer.samples;
      assert.equal(answer.key, 'STREAM_ELSEWHERE');
      elsewhere++;
      await client.finished;
    }
  };

  let sent = 0;
  // Data on the way is lost and sent again, so each of these is passed once.
  const breaks = [0.2, 0.5, 0.8].map((share) => share * pcm.length);
  while (sent < pcm.length) {
    client.audio(pcm.subarray(sent, sent + PIECE_BYTES));
    sent += PIECE_BYTES;
    if (sent < (breaks[0] ?? Number.POSITIVE_INFINITY)) continue;
    breaks.shift();
    sent = await comeBack();
  }
  while (elsewhere === 0) sent = await comeBack();
  for (; sent < pcm.length; sent += PIECE_BYTES) client.audio(pcm.subarray(sent, sent + PIECE_BYTES));
  client.say({ type: 'end' });
  const result = await client.next('result');

  const file = formBody([
    { name: 'file', filename: 'a.wav', content: wav },
    { name: 'silence_threshold', content: Buffer.from('100') },
  ]);
  const { status, json, text } = await postForm(port, '/v1/predict', file, { headers });
  assert.equal(status, 200, text);
  assert.deepEqual(result.global, json.global);
  assert.equal(result.audio_duration, json.audio_duration);
  assert.equal(result.events, json.segments.length);
  assert.ok(result.events > SECONDS / 5);
});
