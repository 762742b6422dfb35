// SPDX-License-Identifier: Apache-2.0
//
// A short run of `npm run bench http-fuzz`, and proof that its checks can fail.
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { readAnswer } from '../long/http-fuzz/answer.js';
import { problemOf } from '../long/http-fuzz/answer-check.js';
import { Connection } from '../long/http-fuzz/connection.js';
import { correlationIdOf, type Input, kinds } from '../long/http-fuzz/input.js';
import { makeInput } from '../long/http-fuzz/input-maker.js';
import { type FuzzOptions, fuzz, problemIn, send } from '../long/http-fuzz/run.js';
import { makeSeedFiles } from '../long/http-fuzz/seed-files.js';
import type { Finding } from '../long/http-fuzz/tally.js';
import { startTarget, surroundingsOf } from '../long/http-fuzz/target.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const input: Input = {
  kind: 'json',
  what: 'a test',
  bytes: Buffer.from('GET / HTTP/1.1\r\nhost: a\r\n\r\n'),
  isHttp: true,
  correlationId: correlationIdOf(1),
  isPrediction: true,
  isApi: true,
};

function answerOf(status: number, body: object, id = input.correlationId) {
  const text = JSON.stringify(body);
  const head = `HTTP/1.1 ${status} X\r\nx-correlation-id: ${id}\r\ncontent-type: application/json\r\n`;
  const bytes = Buffer.from(`${head}retry-after: 1\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
  return readAnswer(bytes, false, false)?.answer ?? assert.fail('It is not complete.');
}

const error = { error: 'validation_error', message: 'No.', status: 400, correlation_id: input.correlationId };

test('an answer that breaks the contract is a finding', () => {
  assert.equal(problemOf(answerOf(400, error), input), undefined);
  const wrong = [
    answerOf(400, error, correlationIdOf(2)),
    answerOf(400, { ...error, status: 422 }),
    answerOf(400, { ...error, error: 'not_found' }),
    answerOf(400, { ...error, message: '' }),
    answerOf(400, { ...error, stack: 'at' }),
    answerOf(400, { ...error, correlation_id: correlationIdOf(2) }),
    answerOf(500, { ...error, error: 'internal_error', status: 500 }),
    answerOf(504, { ...error, error: 'internal_error', status: 504 }),
    answerOf(200, { global: { score: 1.5 } }),
    { ...answerOf(400, error), body: Buffer.from('no') },
  ];
  for (const answer of wrong) assert.notEqual(problemOf(answer, input), undefined, answer.body.toString());
});

test('silence, an early end and a second answer are findings', async (context) => {
  const replies = ['', 'close', 'HTTP/1.1 204 X\r\n\r\nHTTP/1.1 204 X\r\n\r\n', 'nonsense\r\n\r\n'];
  let next = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    const reply = replies[next++] ?? '';
    socket.once('data', () => (reply === 'close' ? socket.destroy() : socket.write(reply)));
  });
  context.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const expected = [/no answer within/, /closed without an answer/, /more than one answer/, /a status line/];
  for (const pattern of expected) {
    const connection = await Connection.open(address.port);
    // Only the silent reply must take all of it.
    const boundMs = pattern === expected[0] ? 300 : 60_000;
    const outcome = await send(connection, input, boundMs);
    assert.match(problemIn(outcome, input, boundMs) ?? '', pattern);
    connection.close();
  }
});

test('a few hundred mutated requests find nothing wrong with the server', async (context) => {
  const folder = temporaryFolder(context);
  const files = await makeSeedFiles(folder);
  const server = await startTarget(folder);
  context.after(() => server.stop());
  const surroundings = await surroundingsOf(server, files);
  assert.deepEqual(makeInput(7, 3, surroundings, files), makeInput(7, 3, surroundings, files));
  const findings: Finding[] = [];
  const options: FuzzOptions = {
    ...{ seed: 3, from: 0, count: 400, seconds: 120, inFlight: 4, boundMs: 60_000, settleMs: 0 },
    onFinding: (finding) => findings.push(finding),
  };
  const { tally, arenaUsedBytesAfter } = await fuzz(server, surroundings, files, options);
  assert.deepEqual(findings, []);
  assert.equal(tally.inputs, options.count);
  assert.deepEqual(Object.keys(tally.outcomes).sort(), [...kinds].sort());
  assert.ok((tally.outcomes.media?.['200'] ?? 0) > 0, 'Some damage leaves a recording that can be judged.');
  assert.ok(tally.goodRequests > 0);
  assert.equal(arenaUsedBytesAfter, 0);
});
