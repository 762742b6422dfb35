// SPDX-License-Identifier: Apache-2.0
//
// The result of a day's recording goes out as it is stored: the thread that answers everybody neither reads nor writes it anew.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.js';
import { startJobServer } from '../support/job-server.js';
import { ADMIN_API_KEY, API_KEY } from '../support/test-server.js';

const LARGE_BYTES = 1 << 20;

const dayLong = JSON.stringify({
  global: { score: 0.25, confidence: 0.5, result: 'bonafide', reason: null },
  segments: Array.from({ length: 86_400 }, (_, start) => ({ start, end: start + 5, scores: [0.25] })),
});

test('every answer with a large result has it as it is stored', async (t) => {
  const server = await startJobServer(t);
  await server.store('day.wav', Buffer.from('any sound'));
  const request = { key: 'day.wav', idempotency_key: 'day' };
  const { id } = (await server.call('POST', '/v1/jobs', request)).json;
  const path = `/v1/jobs/${id}`;
  await eventually(async () => (await server.call('GET', path)).json.state === 'succeeded', 'it succeeds');
  await server.database.execute('UPDATE jobs SET result = $1 WHERE id = $2', [dayLong, id]);

  const large: string[] = [];
  const { parse, stringify } = JSON;
  const spies = [
    t.mock.method(JSON, 'parse', (...given: Parameters<typeof parse>) => {
      if (given[0].length > LARGE_BYTES) large.push('parse');
      return parse(...given);
    }),
    t.mock.method(JSON, 'stringify', (...given: Parameters<typeof stringify>) => {
      const text = stringify(...given);
      if (text?.length > LARGE_BYTES) large.push('stringify');
      return text;
    }),
  ];
  const texts: string[] = [];
  for (const [method, where, apiKey] of [
    ['GET', path, API_KEY],
    ['POST', '/v1/jobs', API_KEY],
    ['DELETE', path, API_KEY],
    ['GET', `/v1/admin/jobs/${id}`, ADMIN_API_KEY],
  ] as const) {
    const answer = await fetch(`http://127.0.0.1:${server.port}${where}`, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      ...(method === 'POST' && { body: stringify(request) }),
    });
    assert.ok(answer.ok, `${method} ${where}: ${answer.status}`);
    texts.push(await answer.text());
  }
  for (const spy of spies) spy.mock.restore();
  assert.deepEqual(large, []);
  for (const text of texts) {
    const { result, state, ...others } = JSON.parse(text);
    assert.deepEqual([JSON.stringify(result) === dayLong, state], [true, 'succeeded']);
    assert.equal(others.id, id);
  }
});
