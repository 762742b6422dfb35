// SPDX-License-Identifier: Apache-2.0
//
// uWebSockets.js currently runs microtasks between a head and its body, which its documentation does not
// promise.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryBudget } from '../../../src/api/admission/memory-budget.js';
import { AnswerLimits } from '../../../src/api/http/answer-limits.js';
import { ClientAddresses } from '../../../src/api/http/client-address.js';
import { Exchange } from '../../../src/api/http/exchange.js';
import { readHead } from '../../../src/api/http/request-head.js';
import type { HttpRequest, HttpResponse } from '../../../src/api/http/uws.js';

/** An exchange, and the input of its body handler. */
function exchangeOf(contentLength: string, receiving = new Set<Exchange>()) {
  let leave = (): void => {};
  let onData = (_chunk: ArrayBuffer, _isLast: boolean): void => {};
  const res = {
    onAborted: (handler: () => void) => {
      leave = handler;
    },
    onData: (handler: typeof onData) => {
      onData = handler;
    },
    getRemoteAddress: () => new ArrayBuffer(4),
  };
  const headers: Record<string, string> = { 'content-length': contentLength };
  const req = {
    getCaseSensitiveMethod: () => 'POST',
    getUrl: () => '/',
    getQuery: () => '',
    forEach: (each: (name: string, value: string) => void) => {
      for (const [name, value] of Object.entries(headers)) each(name, value);
    },
  };
  const exchange = new Exchange(
    res as unknown as HttpResponse,
    req as unknown as HttpRequest,
    readHead(req as unknown as HttpRequest),
    receiving,
    new ClientAddresses([]),
    new AnswerLimits({ maxBytes: 0, timeoutMs: 1000, onClose: () => {} }),
    new MemoryBudget(1 << 20),
  );
  const receive = (text: string, isLast: boolean): void => {
    const bytes = new Uint8Array(new TextEncoder().encode(text));
    onData(bytes.buffer, isLast);
    // As uWebSockets.js takes back its memory.
    bytes.fill(0);
  };
  const heard: [string, boolean][] = [];
  const listen = (): void =>
    exchange.onChunk((chunk, isLast) => heard.push([new TextDecoder().decode(chunk), isLast]));
  return { exchange, receive, listen, heard, leave: () => leave() };
}

test('what came before anybody listened is handed over when it was held', () => {
  const { exchange, receive, listen, heard } = exchangeOf('6');
  exchange.holdBody();
  receive('ab', false);
  receive('cd', false);
  listen();
  assert.deepEqual(heard, [['abcd', false]]);
  receive('ef', true);
  assert.deepEqual(heard.slice(1), [['ef', true]]);
});

test('a held body that is complete ends, once', () => {
  const { exchange, receive, listen, heard } = exchangeOf('2');
  exchange.holdBody();
  receive('ab', true);
  listen();
  assert.deepEqual(heard, [
    ['ab', false],
    ['', true],
  ]);
});

test('what nobody came for is not kept', () => {
  const { exchange, receive, listen, heard } = exchangeOf('4');
  exchange.holdBody();
  receive('ab', false);
  exchange.dropHeldBody();
  receive('cd', true);
  listen();
  assert.deepEqual(heard, [['', true]]);
});

test('the connection of a client that left before its answer is not touched while the answer is read', async () => {
  const receiving = new Set<Exchange>();
  const { exchange, leave } = exchangeOf('0', receiving);
  leave();
  const never = () => new Promise<never>(() => {});
  const reply = { status: 200, contentType: 'text/plain', body: '' };
  const sending = [
    exchange.sendStream({ ...reply, stream: { bytes: 1, read: never, close: never } }, [], 1000, false),
    exchange.sendTexts({ ...reply, texts: { next: never, close() {} } }, [], 1000),
  ];
  assert.equal(receiving.size, 0);
  await Promise.all(sending);
});
