// SPDX-License-Identifier: Apache-2.0
//
// Jobs that enrol a voice give the same as a request to /v1/voiceid/enroll. The analyses are doubles.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Config } from '../../src/base/config/options.js';
import type { RequestRecord } from '../../src/base/observe/request-record.js';
import { someAnalysis, someEmbedding } from '../support/analyser-double.js';
import { eventually } from '../support/eventually.js';
import { noise } from '../support/form-body.js';
import { type JobServer, startJobServer } from '../support/job-server.js';
import { PREDICT_API_KEY } from '../support/test-keys.js';
import type { TestParts } from '../support/test-server.js';
import { audioEntry, enroll, field } from '../support/voiceid-client.js';

const FILE = noise(3_000_000);
const human = { ...someAnalysis, windows: [{ startS: 0, endS: 5, scores: [0.1] }] };

async function start(t: TestContext, overrides: Partial<Config> = {}, parts: TestParts = {}) {
  const server = await startJobServer(t, overrides, parts);
  server.analyser.answer = () => human;
  await server.store('anna.wav', FILE);
  return server;
}

async function created(server: JobServer, body: object = {}): Promise<string> {
  const answer = await server.call('POST', '/v1/jobs', { key: 'anna.wav', task: 'enroll', ...body });
  assert.equal(answer.status, 202, answer.text);
  assert.equal(answer.json.task, 'enroll');
  return `/v1/jobs/${answer.json.id}`;
}

async function ended(server: JobServer, job: string) {
  let seen: { finished_at: string | null } | undefined;
  await eventually(async () => {
    seen = (await server.call('GET', job)).json;
    return seen?.finished_at !== null;
  }, 'the end of the job');
  // biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary members of what the server sent
  return seen as any;
}

test('a job gives the voiceprint that a request gives, and counts like one', async (t) => {
  const records: RequestRecord[] = [];
  const recorder = { record: (record: RequestRecord) => void records.push(record), close: async () => {} };
  const server = await start(t, {}, { recorders: [recorder] });
  const region = { start: 2, end: 30 };
  const job = await ended(server, await created(server, { ...region, user_id: 'anna' }));
  const { json: direct } = await enroll(server.port, [
    audioEntry(FILE),
    field('start', '2'),
    field('end', '30'),
  ]);
  const { processing_time, ...result } = job.result;
  const { processing_time: _, ...expected } = direct;
  assert.ok(processing_time >= 0);
  assert.deepEqual(result, expected);
  assert.deepEqual(
    [job.state, job.attempts, job.audio_analysed, job.file_progress, job.error, job.batch],
    ['succeeded', 1, someEmbedding.durationS, 1, null, null],
  );
  // The job's two analyses and the request's, of the same bytes and with the same limits.
  const { hashes, requests } = server.analyser;
  assert.deepEqual([hashes.length, new Set(hashes).size], [4, 1]);
  const asked = requests.map(({ model, startS, endS, minDurationS, maxDurationS }) =>
    JSON.stringify({ model, startS, endS, minDurationS, maxDurationS }),
  );
  assert.deepEqual(asked.slice(0, 2).sort(), asked.slice(2).sort());
  const [record] = records.filter(({ route }) => route === 'job');
  const counted = records.find(({ route }) => route === '/v1/voiceid/enroll');
  for (const fact of ['keyId', 'account', 'model', 'audioS', 'scoredWindows', 'skippedS'] as const)
    assert.equal(record?.[fact], counted?.[fact], fact);
  assert.deepEqual(record?.modelIds, counted?.modelIds);
  assert.equal(record?.bodyBytes, FILE.length);
});

test('what is wrong with a sample makes a job fail as it makes a request fail', async (t) => {
  const server = await start(t, { maxVoiceidBytes: FILE.length });
  await server.store('large.wav', Buffer.concat([FILE, FILE]));
  await server.store('empty.wav', Buffer.alloc(0));
  const { analyser } = server;
  const cases: [what: string, key: string, file: Uint8Array, begin: () => void][] = [
    ['AI_GENERATED_VOICE', 'anna.wav', FILE, () => (analyser.answer = () => someAnalysis)],
    ['SPEECH_TOO_SHORT', 'anna.wav', FILE, () => (analyser.answer = () => ({ ...human, speechRatio: 0.1 }))],
    ['FILE_TOO_LARGE', 'large.wav', Buffer.concat([FILE, FILE]), () => {}],
    ['FILE_EMPTY', 'empty.wav', Buffer.alloc(0), () => {}],
  ];
  for (const [errorKey, key, file, begin] of cases) {
    begin();
    const direct = await enroll(server.port, [audioEntry(file)]);
    assert.equal(direct.headers['x-error-key'], errorKey, direct.text);
    const { state, attempts, result, error } = await ended(server, await created(server, { key }));
    assert.deepEqual([state, attempts, result], ['failed', 1, null], errorKey);
    const { message } = direct.json;
    assert.deepEqual(error, { key: errorKey, message: message.detail ?? message });
  }
});

test('an AI-generated voice that is enrolled nevertheless is flagged in the result', async (t) => {
  const server = await start(t, { enrollAuthenticity: 'flag' });
  assert.equal('deepfake_flagged' in (await ended(server, await created(server))).result, false);
  server.analyser.answer = () => someAnalysis;
  const { result } = await ended(server, await created(server));
  const direct = await enroll(server.port, [audioEntry(FILE)]);
  assert.equal(String(result.deepfake_flagged), direct.headers['x-deepfake-flagged']);
  assert.equal(result.deepfake_checked, true);
});

test('parts of the recording that were not heard are named in the result', async (t) => {
  const server = await start(t, {});
  assert.equal('warnings' in (await ended(server, await created(server))).result, false);
  server.analyser.answerVoice = () => ({ ...someEmbedding, statedLength: { foundS: 12 } });
  const { result } = await ended(server, await created(server));
  const direct = await enroll(server.port, [audioEntry(FILE)]);
  assert.deepEqual(result.warnings, ['The end is missing: the file breaks off after 12 s.']);
  assert.deepEqual(result.warnings, JSON.parse(String(direct.headers['x-warnings'])));
});

test('voiceprints are for keys with the scope voiceid', async (t) => {
  const server = await start(t);
  const job = await created(server);
  await ended(server, job);
  const waiting = await server.call('POST', '/v1/jobs', { key: 'anna.wav', task: 'enroll' }, PREDICT_API_KEY);
  assert.deepEqual([waiting.status, waiting.headers['x-error-key']], [403, 'FORBIDDEN'], waiting.text);
  for (const method of ['GET', 'DELETE']) {
    const answer = await server.call(method, job, undefined, PREDICT_API_KEY);
    assert.equal(answer.status, 403, method);
    assert.doesNotMatch(answer.text, /embedding/);
  }
  const { json } = await server.call('GET', '/v1/jobs', undefined, PREDICT_API_KEY);
  assert.deepEqual(
    json.jobs.map(({ id, result }: { id: string; result?: unknown }) => [`/v1/jobs/${id}`, result]),
    [[job, undefined]],
  );
});

test('what no enrolment can be made of is refused, and nothing is queued', async (t) => {
  const server = await startJobServer(t, { jobWorkers: 0 });
  for (const [body, expected] of [
    [{ task: 'enrol' }, /task/],
    [{ start: -1 }, /start/],
    [{ start: 5, end: 4 }, /end/],
    [{ user_id: 7 }, /user_id/],
    [{ presigned_url: 'no link' }, /presigned_url/],
  ] as const) {
    const answer = await server.call('POST', '/v1/jobs', { key: 'anna.wav', task: 'enroll', ...body });
    assert.equal(answer.status, 400, `${JSON.stringify(body)}: ${answer.text}`);
    assert.match(answer.json.message, expected);
  }
  assert.deepEqual((await server.call('GET', '/v1/jobs')).json.jobs, []);
  const without = await startJobServer(t, { jobWorkers: 0 }, { speakerModels: [] });
  const answer = await without.call('POST', '/v1/jobs', { key: 'anna.wav', task: 'enroll' });
  assert.deepEqual([answer.status, answer.headers['x-error-key']], [503, 'NO_SPEAKER_MODEL']);
});

test('the same idempotency_key is the same enrolment, and a cancelled one leaves no voiceprint', async (t) => {
  const server = await start(t);
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  t.after(release);
  const { analyser } = server;
  analyser.answerVoice = ({ signal }) =>
    Promise.race([
      released.then(() => someEmbedding),
      new Promise<never>((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
      ),
    ]);
  const job = await created(server, { idempotency_key: 'anna' });
  assert.equal(await created(server, { idempotency_key: 'anna' }), job);
  const other = await server.call('POST', '/v1/jobs', { key: 'anna.wav', idempotency_key: 'anna' });
  assert.equal(other.headers['x-error-key'], 'IDEMPOTENCY_KEY_REUSED', 'an analysis of the same file');
  await eventually(() => analyser.running > 0, 'the work');
  assert.equal((await server.call('DELETE', job)).json.state, 'cancelled');
  await eventually(() => analyser.running === 0, 'the end of the work');
  release();
  const { state, result } = (await server.call('GET', job)).json;
  assert.deepEqual([state, result], ['cancelled', null]);
});
