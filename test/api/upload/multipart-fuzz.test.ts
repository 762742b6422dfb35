// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type MultipartLimits,
  MultipartParser,
  type Part,
} from '../../../src/api/upload/multipart-parser.js';
import { boundaryOf } from '../../../src/api/upload/part-headers.js';
import { ServiceError } from '../../../src/base/errors/service-error.js';

// The same bodies on every run; another seed gives others.
const seed = Number(process.env.VERAVOX_FUZZ_SEED ?? 1);
const rounds = Number(process.env.VERAVOX_FUZZ_ROUNDS ?? 1500);

const limits: MultipartLimits = {
  maxParts: 64,
  maxHeaderBytes: 8192,
  maxFieldBytes: 1 << 20,
  maxFileBytes: 1 << 20,
  fileTooLarge: () => new ServiceError('FILE_TOO_LARGE'),
};

/** Mulberry32. */
function generator(state: number): (below: number) => number {
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

function pick<T>(random: (below: number) => number, values: readonly T[]): T {
  return values[random(values.length)] as T;
}

interface Outcome {
  readonly parts?: readonly Part[];
  readonly error?: string;
}

/** Never throws anything except ServiceError, whatever the bytes. */
function parse(body: Buffer, boundary: string, random?: (below: number) => number): Outcome {
  const memory = Buffer.alloc(body.length, `\r\n--${boundary}\r\n`);
  const parser = new MultipartParser(memory, boundary, 'file', limits);
  try {
    let filled = 0;
    while (filled < body.length) {
      const end =
        random === undefined
          ? body.length
          : Math.min(body.length, filled + 1 + random(pick(random, [2, 40, 4000])));
      body.copy(memory, filled, filled, end);
      filled = end;
      parser.advance(filled);
    }
    return { parts: parser.finish() };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { error: error.message };
  }
}

test('forms made by the platform’s own FormData are read as it reads them, however they are cut', async () => {
  const random = generator(seed);
  const nearDelimiters = [
    '\r',
    '\n',
    '\r\n',
    '--',
    '\r\n--',
    '\r\n------formdata-undici-0',
    '-',
    'x',
    '\0',
    'ü',
    '"',
    '%22',
  ];
  for (let round = 0; round < rounds; round++) {
    const form = new FormData();
    const count = 1 + random(6);
    for (let i = 0; i < count; i++) {
      const pieces = Array.from({ length: random(12) }, () => pick(random, nearDelimiters));
      const name = pick(random, ['file', 'a', 'b c', 'ü"\\', '']);
      if (random(2) === 0) form.append(name, new Blob(pieces), pick(random, ['a.wav', 'ü "x".mp3', 'C:\\a']));
      else form.append(name, pieces.join(''));
    }
    const response = new Response(form);
    const contentType = response.headers.get('content-type') ?? '';
    const body = Buffer.from(await response.arrayBuffer());
    const reference = await new Response(body, { headers: { 'content-type': contentType } }).formData();
    const expected: [string, string, Buffer][] = [];
    for (const [name, value] of reference) {
      const isText = typeof value === 'string';
      const content = Buffer.from(
        isText ? value : await value.arrayBuffer().then((bytes) => Buffer.from(bytes)),
      );
      expected.push([name, isText ? '' : value.name, content]);
    }
    const { parts, error } = parse(body, boundaryOf(contentType), random);
    assert.equal(error, undefined);
    const actual = parts?.map((part): [string, string, Buffer] => [
      part.name,
      part.filename ?? '',
      body.subarray(part.start, part.end),
    ]);
    assert.deepEqual(actual, expected, `round ${round} of seed ${seed}`);
  }
});

test('random bytes give the same parts or the same error in one piece and in many', () => {
  const random = generator(seed + 1);
  const alphabet = [
    '\r',
    '\n',
    '\r\n',
    '--b',
    '\r\n--b',
    '\r\n--b--',
    '\r\n--b\r\n',
    '--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n',
    '\r\n--b\r\nContent-Disposition: form-data; name=a; filename=c\r\n\r\n',
    'content-disposition: ',
    'form-data; name="',
    '\r\n\r\n',
    ' ',
    '-',
    ';',
    '"',
    'x'.repeat(200),
  ];
  let parsed = 0;
  for (let round = 0; round < rounds * 4; round++) {
    const body = Buffer.from(Array.from({ length: 1 + random(14) }, () => pick(random, alphabet)).join(''));
    const whole = parse(body, 'b');
    assert.deepEqual(parse(body, 'b', random), whole, `round ${round} of seed ${seed}`);
    if (whole.parts !== undefined) parsed++;
  }
  // Otherwise the alphabet would only test refusals.
  assert.ok(parsed > rounds / 10, `only ${parsed} bodies were well formed`);
});
