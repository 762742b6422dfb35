// SPDX-License-Identifier: Apache-2.0
//
// A server that gets other models while it runs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Authenticator } from '../../src/state/keys/authenticator.js';
import { AnalyserDouble, someAnalysis, someDetector, someSpeakerModel } from '../support/analyser-double.js';
import { eventually } from '../support/eventually.js';
import { fileEntry, formBody, noise } from '../support/form-body.js';
import { holdAnalyses } from '../support/held-analyses.js';
import { postForm, predict, predictHead, RawClient, request } from '../support/http-client.js';
import { noPoints } from '../support/server-parts.js';
import { StreamClient } from '../support/stream-client.js';
import {
  ADMIN_API_KEY,
  startTestServer,
  type TestServer,
  testAuthenticator,
} from '../support/test-server.js';
import { until } from '../support/until.js';
import { vectorEntry, verify } from '../support/voiceid-client.js';

const body = formBody([fileEntry(noise(1000))]);
const largeBody = formBody([fileEntry(noise(5_000_000))]);
const LARGE = '/v1/predict/large-file';

/** Other models, with another score. */
function otherModels({ arena }: TestServer, models?: readonly string[]): AnalyserDouble {
  const other = new AnalyserDouble(arena);
  if (models !== undefined) {
    const detectors = models.map((id) => ({ ...someDetector, id }));
    other.currentStatus = { ...other.currentStatus, models, detectors };
  }
  other.answer = () => ({ ...someAnalysis, windows: [{ startS: 0, endS: 5, scores: [0.25] }] });
  return other;
}

const scoreOf = async (port: number): Promise<number> => (await predict(port, body)).json.global.score;

async function modelInfo(port: number): Promise<string[]> {
  const { text } = await request(port, '/metrics');
  return Array.from(
    text.matchAll(/^veravox_model_info\{task="(\w+)",model="([^"]+)",id="\2"\} 1$/gm),
    ([, ...of]) => of.join(' '),
  );
}

test('models that the configuration cannot use are refused, and nothing changes', async (t) => {
  const server = await startTestServer(t, { speakerModel: someSpeakerModel.id });
  const before = await scoreOf(server.port);
  const without = new AnalyserDouble(server.arena, []);
  assert.throws(() => server.server.replaceModels(without, noPoints), /Expected a loaded speaker model/);
  assert.equal(await scoreOf(server.port), before);
  assert.equal(await server.metric('veravox_model_sets'), 1);
  assert.ok(!server.analyser.closed && !without.closed);
});

test('a server that is stopping takes no other models', async (t) => {
  const server = await startTestServer(t, { stopGraceMs: 60_000 });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const stopped = server.server.stop();
  const other = otherModels(server);
  assert.throws(() => server.server.replaceModels(other, noPoints), /stopping/);
  t.mock.timers.tick(60_000);
  await stopped;
  assert.ok(server.analyser.closed && !other.closed);
});

/** Begins a request with the initial models in the given way, and finishes it later. */
const beginnings: readonly [what: string, begin: (server: TestServer) => Promise<() => Promise<string>>][] = [
  [
    'is being analysed',
    async (server) => {
      const held = holdAnalyses(server);
      const answer = predict(server.port, body);
      await held.running(1);
      return async () => {
        held.finish();
        return (await answer).text;
      };
    },
  ],
  [
    'is still arriving',
    async ({ port, metric }) => {
      const client = await RawClient.connect(port);
      await client.write(predictHead({ 'content-length': body.length }));
      await client.write(body.subarray(0, 500));
      await eventually(async () => (await metric('veravox_requests_in_flight')) === 1, 'it has begun');
      return async () => {
        await client.write(body.subarray(500));
        const text = await client.until(/\}$/);
        client.socket.destroy();
        return text;
      };
    },
  ],
];
for (const [what, begin] of beginnings) {
  test(`a request that ${what} is answered by the models that it began with, others by the new ones`, async (t) => {
    const server = await startTestServer(t);
    const { port, analyser, metric } = server;
    const finish = await begin(server);
    const other = otherModels(server);
    server.server.replaceModels(other, noPoints);
    for (let i = 0; i < 3; i++) assert.equal(await scoreOf(port), 0.25);
    assert.ok(!analyser.closed);
    assert.equal(await metric('veravox_model_sets'), 2);
    assert.equal((await request(port, '/readyz')).status, 200);
    assert.match(await finish(), /"score":0\.975,/);
    await until(() => analyser.closed);
    await eventually(async () => (await metric('veravox_model_sets')) === 1, 'the earlier set is gone');
    assert.ok(!other.closed);
    assert.equal(await scoreOf(port), 0.25);
  });
}

test('who leaves in the middle of a request does not keep its models', async (t) => {
  const server = await startTestServer(t);
  const client = await RawClient.connect(server.port);
  await client.write(predictHead({ 'content-length': body.length }));
  await eventually(
    async () => (await server.metric('veravox_requests_in_flight')) === 1,
    'the request has begun',
  );
  server.server.replaceModels(otherModels(server), noPoints);
  client.socket.destroy();
  await until(() => server.analyser.closed);
});

test('a stream begins with the models of its connection, however late its key is found and its start comes', async (t) => {
  let find = (): void => {};
  const isFound = new Promise<void>((resolve) => {
    find = resolve;
  });
  let isAsked = false;
  const keys: Authenticator = {
    ...testAuthenticator,
    authenticate: () => undefined,
    async lookUp(presented) {
      isAsked = true;
      await isFound;
      return testAuthenticator.authenticate(presented);
    },
  };
  const server = await startTestServer(t, {}, { keys });
  const opening = StreamClient.open(server.port);
  await until(() => isAsked);
  server.server.replaceModels(otherModels(server), noPoints);
  find();
  const client = await opening;
  client.say({ type: 'start', encoding: 'pcm16', sample_rate: 16_000 });
  await client.next('ready');
  assert.equal(server.analyser.liveStreams.length, 1);
  assert.ok(!server.analyser.closed);
  client.audio(new Uint8Array(320));
  client.say({ type: 'end' });
  await until(() => server.analyser.liveStreams[0]?.isFinished === true);
  server.analyser.liveStreams[0]?.tellWindow(0, 0.9);
  server.analyser.liveStreams[0]?.tellEnd(5);
  await client.next('result');
  await until(() => server.analyser.closed);
});

test('models that no request holds are closed at once, and so is each of many', async (t) => {
  const server = await startTestServer(t);
  const all = [server.analyser];
  for (let i = 0; i < 10; i++) {
    const other = otherModels(server);
    server.server.replaceModels(other, noPoints);
    all.push(other);
  }
  await until(() => all.slice(0, -1).every(({ closed }) => closed));
  assert.ok(!all.at(-1)?.closed);
  await eventually(async () => (await server.metric('veravox_model_sets')) === 1, 'one set is left');
});

test('a stop closes all models, and waits for requests of each', async (t) => {
  const server = await startTestServer(t, { stopDrainMs: 60_000 });
  const held = holdAnalyses(server);
  const answer = predict(server.port, body);
  await held.running(1);
  const other = otherModels(server);
  server.server.replaceModels(other, noPoints);
  const stopped = server.server.stop();
  held.finish();
  assert.equal((await answer).status, 200);
  await stopped;
  assert.ok(server.analyser.closed && other.closed);
});

test('routes, fields, documentation, readiness and metrics follow the models', async (t) => {
  const server = await startTestServer(t, {}, { models: ['first'] });
  const { port } = server;
  const askFor = (model: string) =>
    predict(port, formBody([fileEntry('x'), { name: 'model', content: model }]));
  const headers = { 'x-api-key': ADMIN_API_KEY };
  const modelsOf = async (path: string) => (await request(port, path, { headers })).json;
  assert.equal((await postForm(port, LARGE, largeBody)).status, 404);
  assert.equal((await askFor('second')).status, 400);
  assert.deepEqual(await modelInfo(port), ['detection first', `speaker ${someSpeakerModel.id}`]);

  server.server.replaceModels(otherModels(server, ['second', 'apollo-4-2025-10-20']), noPoints);
  assert.equal((await postForm(port, LARGE, largeBody)).status, 200);
  assert.equal((await askFor('second')).status, 200);
  const refused = await askFor('first');
  assert.equal(refused.status, 400);
  assert.match(refused.json.message, /Expected second for model but received "first"/);
  assert.deepEqual((await modelsOf('/readyz')).models, ['second', 'apollo-4-2025-10-20']);
  const { paths } = await modelsOf('/openapi.json');
  assert.ok(LARGE in paths);
  assert.deepEqual(await modelInfo(port), [
    'detection second',
    'detection apollo-4-2025-10-20',
    `speaker ${someSpeakerModel.id}`,
  ]);

  server.server.replaceModels(otherModels(server, ['first']), noPoints);
  assert.equal((await postForm(port, LARGE, largeBody)).status, 404);
});

test('large files that began before count against the memory that large files may have', async (t) => {
  const server = await startTestServer(t, { maxInflightBytes: 16 << 20, maxLargeFileBytes: 5_100_000 });
  const held = holdAnalyses(server);
  const running = [postForm(server.port, LARGE, largeBody), postForm(server.port, LARGE, largeBody)];
  await held.running(2);
  server.server.replaceModels(otherModels(server), noPoints);
  const refused = await postForm(server.port, LARGE, largeBody);
  assert.equal(refused.status, 503);
  assert.match(refused.json.message, /bytes of large files in flight/);
  held.finish();
  for (const { status } of await Promise.all(running)) assert.equal(status, 200);
  assert.equal((await postForm(server.port, LARGE, largeBody)).status, 200);
});

test('a voiceprint of the speaker model before is not one of the model after', async (t) => {
  const server = await startTestServer(t);
  const human = { ...someAnalysis, windows: [{ startS: 0, endS: 5, scores: [0.01] }] };
  server.analyser.answer = () => human;
  const enrolled = await postForm(
    server.port,
    '/v1/voiceid/enroll',
    formBody([{ ...fileEntry('x'), name: 'audio_file' }]),
  );
  const entries = [{ ...fileEntry('x'), name: 'audio_file' }, vectorEntry(enrolled.json.embedding)];
  assert.equal((await verify(server.port, entries)).status, 200);
  const other = new AnalyserDouble(server.arena, [{ ...someSpeakerModel, fingerprint: '1'.repeat(64) }]);
  other.answer = () => human;
  server.server.replaceModels(other, noPoints);
  const refused = await verify(server.port, entries);
  assert.equal(refused.status, 400);
  assert.equal(await server.metric('veravox_errors_total{key="VOICEPRINT_FOREIGN"}'), 1);
});
