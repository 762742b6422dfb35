// SPDX-License-Identifier: Apache-2.0
//
// Speed of the multipart parser on one core: one large file part, in chunks of the size that the socket gives, first
// the parser alone, then with the copy of each chunk into the arena, as a request has it.
//
//   npm run bench multipart [-- MEBIBYTES]
//
// For comparison, BUSBOY in the environment is the path of an installed `busboy`.
import { createRequire } from 'node:module';
import { MultipartParser } from '../src/api/upload/multipart-parser.js';

const CHUNK_BYTES = 512 * 1024;
const REPEATS = 9;
const mebibytes = Number(process.argv[2] ?? 100);
const boundary = '------------------------d74496d66958873e';

function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = 1;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}

const bodyAround = (content: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n`),
    content,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
const body = bodyAround(noise(mebibytes << 20));
/** An incomplete delimiter, over and over. */
const hostileBody = bodyAround(Buffer.alloc(mebibytes << 20, `\r\n--${boundary.slice(0, -1)}`));
const fail = (): never => {
  throw new Error('The benchmark stays within the limits. This is a bug.');
};
const limits = {
  maxParts: 64,
  maxHeaderBytes: 8192,
  maxFieldBytes: 65536,
  maxFileBytes: body.length,
  fileTooLarge: fail,
};

function parse(body: Buffer, memory: Buffer, copies: boolean): void {
  const parser = new MultipartParser(memory, boundary, 'file', limits);
  for (let at = 0; at < body.length; at += CHUNK_BYTES) {
    const chunk = body.subarray(at, at + CHUNK_BYTES);
    if (copies) memory.set(chunk, at);
    parser.advance(at + chunk.length);
  }
  if (parser.finish()[0]?.end !== body.length - boundary.length - '\r\n----\r\n'.length) fail();
}

async function bestGigabytesPerS(run: () => void | Promise<void>): Promise<string> {
  let bestMs = Number.POSITIVE_INFINITY;
  for (let i = 0; i < REPEATS; i++) {
    const startedMs = performance.now();
    await run();
    bestMs = Math.min(bestMs, performance.now() - startedMs);
  }
  return `${(body.length / 1e6 / bestMs).toFixed(2)} GB/s`;
}

const arena = Buffer.from(new SharedArrayBuffer(body.length));
console.log(`copy and parse: ${await bestGigabytesPerS(() => parse(body, arena, true))}`);
console.log(`copy alone:     ${await bestGigabytesPerS(() => arena.set(body))}`);
console.log(`parse alone:    ${await bestGigabytesPerS(() => parse(body, arena, false))}`);
console.log(`hostile body:   ${await bestGigabytesPerS(() => parse(hostileBody, hostileBody, false))}`);

const busboyPath = process.env.BUSBOY;
if (busboyPath !== undefined) {
  const busboy = createRequire(import.meta.url)(busboyPath);
  const run = (): Promise<void> =>
    new Promise((resolve) => {
      const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
      const parser = busboy({ headers, limits: { fileSize: body.length } });
      parser.on('file', (_: string, stream: { resume(): void }) => stream.resume());
      parser.on('close', resolve);
      for (let at = 0; at < body.length; at += CHUNK_BYTES) parser.write(body.subarray(at, at + CHUNK_BYTES));
      parser.end();
    });
  console.log(`busboy:         ${await bestGigabytesPerS(run)}`);
}
