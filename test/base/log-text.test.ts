// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { textOfLine } from '../../src/base/observe/log-text.js';
import { request } from '../support/http-client.js';
import { API_KEY, startTestServer } from '../support/test-server.js';
import { until } from '../support/until.js';

/** Narrower than the set that `stripVTControlCharacters` removes. */
const OWN_COLOURS = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g');
const time = '2026-11-21T12:34:56.789Z';
const shown = (line: object): string =>
  stripVTControlCharacters(textOfLine(JSON.stringify({ time, ...line })));

test('a line cannot make a terminal do anything, nor look like two', () => {
  const evil = '\x1b[2J\x9b31m\r\n12:34:56 info  all is well\u202e';
  for (const line of [
    { level: 'info', msg: evil },
    { level: 'info', msg: 'x', file: evil },
    { level: 'error', msg: 'x', err: { stack: evil } },
    { level: 'info', msg: 'request', method: evil, route: evil, status: 200, model: evil },
  ]) {
    const text = textOfLine(JSON.stringify({ time, ...line }));
    const own = text.replaceAll(OWN_COLOURS, '');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    assert.doesNotMatch(own.replaceAll('\n', ''), /[\0-\x1f\x7f-\x9f\u202e]/);
    if (!('err' in line)) assert.equal(own.split('\n').length, 2, own);
  }
});

test('a line is short: time of day, level, message, and what else is known', () => {
  assert.equal(
    shown({ level: 'warn', msg: 'unknown setting, ignored', variable: 'VERAVOX_X', ids: ['a', 'b'], n: 3 }),
    '12:34:56 warn  unknown setting, ignored  variable=VERAVOX_X  ids=a, b  n=3\n',
  );
});

test('an error comes with where it happened, below its line', () => {
  assert.equal(
    shown({ level: 'error', msg: 'broken', err: { type: 'Error', stack: 'Error: no\n    at here' } }),
    '12:34:56 error broken\n    Error: no\n    at here\n',
  );
});

test('a request is read from its route to who asked', () => {
  const line = {
    level: 'info',
    msg: 'request',
    method: 'POST',
    route: '/v1/predict',
    status: 422,
    correlationId: 'c',
  };
  assert.equal(
    shown({
      ...line,
      account: 'one',
      keyId: 'k',
      clientAddress: '192.0.2.7',
      errorKey: 'AUDIO_TOO_SHORT',
      timesMs: { total: 11.2 },
      bodyBytes: 5,
    }),
    '12:34:56 info  POST /v1/predict 422 11.2 ms  192.0.2.7  one  k  AUDIO_TOO_SHORT  bodyBytes=5  c\n',
  );
});

test('levels are words, and the address of the client is in the line of a request', async (t) => {
  const { port, log } = await startTestServer(t);
  await request(port, '/v1/file?entity=analysis', { headers: { 'x-api-key': API_KEY } });
  await until(() => log.some((line) => line.route === '/v1/file'));
  const line = log.find(({ route }) => route === '/v1/file');
  assert.equal(line?.level, 'info');
  assert.equal(line?.clientAddress, '127.0.0.1');
});

test('probes have lines at the level debug only', async (t) => {
  const { port, log } = await startTestServer(t);
  for (const probe of ['/livez', '/readyz', '/metrics', '/nowhere']) await request(port, probe);
  await until(() => log.some((line) => line.route === 'other'));
  assert.deepEqual(
    log.filter(({ route }) => route !== undefined).map(({ route }) => route),
    ['other'],
  );

  const debugging = await startTestServer(t, { logLevel: 'debug' });
  for (const probe of ['/livez', '/readyz', '/metrics']) await request(debugging.port, probe);
  await until(() => debugging.log.filter(({ route }) => route !== undefined).length === 3);
  assert.ok(debugging.log.filter(({ route }) => route !== undefined).every(({ level }) => level === 'debug'));
});
