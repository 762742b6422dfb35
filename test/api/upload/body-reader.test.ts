// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyReader } from '../../../src/api/upload/body-reader.js';
import type { BodyStream } from '../../../src/api/upload/body-stream.js';

const CHUNK_BYTES = 512 * 1024;
const CHUNKS_TO_OVERFLOW = 32;

/** A body that may send more after `pause`, as uWebSockets.js does until its read turn ends. */
function makeStream(keep: BodyStream['keep'] = () => {}) {
  const state = { isPaused: false, send: (_chunk: Uint8Array, _isLast: boolean): void => {} };
  const stream: BodyStream = {
    declaredBytes: undefined,
    signal: new AbortController().signal,
    onChunk: (listener) => {
      state.send = listener;
    },
    keep,
    pause: () => {
      state.isPaused = true;
    },
    resume: () => {
      state.isPaused = false;
    },
  };
  return { state, stream };
}

test('a body goes on after all that was unread has overflowed', { timeout: 10_000 }, async () => {
  const { state, stream } = makeStream();
  const reader = new BodyReader(stream, 60_000);
  let overflowedBytes = 0;
  reader.onOverflow = (block) => {
    overflowedBytes += block.length;
  };
  let readBytes = 0;
  const reading = (async () => {
    for await (const block of reader) readBytes += block.length;
  })();
  // In one turn, so that nothing remains to be read after the last chunk.
  for (let i = 0; i < CHUNKS_TO_OVERFLOW; i++) state.send(new Uint8Array(CHUNK_BYTES), false);
  assert.equal(overflowedBytes, CHUNKS_TO_OVERFLOW * CHUNK_BYTES);
  assert.ok(state.isPaused);
  await new Promise(setImmediate);
  assert.ok(!state.isPaused, 'the sender waits for ever');
  state.send(new Uint8Array(1), true);
  await reading;
  assert.equal(readBytes, 1);
});

test('without a taker of its overflow, a body of any size is counted, and refused without memory', async () => {
  let keptBytes = 0;
  const refusal = new Error('no memory');
  const { state, stream } = makeStream((bytes) => {
    if (bytes > 2 * CHUNKS_TO_OVERFLOW * CHUNK_BYTES) throw refusal;
    keptBytes = bytes;
  });
  const reader = new BodyReader(stream, 60_000);
  for (let i = 0; i < 2 * CHUNKS_TO_OVERFLOW; i++) state.send(new Uint8Array(CHUNK_BYTES), false);
  assert.equal(keptBytes, 2 * CHUNKS_TO_OVERFLOW * CHUNK_BYTES - 256 * 1024);
  state.send(new Uint8Array(CHUNK_BYTES), false);
  await assert.rejects(async () => {
    for await (const _ of reader);
  }, refusal);
});
