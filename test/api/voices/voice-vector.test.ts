// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { asJsonNumbers, parseVoiceVector } from '../../../src/analysis/voiceid/voice-vector.js';
import type { ServiceError } from '../../../src/base/errors/service-error.js';

/** Any sign, exponent and mantissa, but neither infinity nor NaN; the same every time. */
function finiteFloats(count: number, seed = 1): Float32Array {
  const floats = new Float32Array(count);
  const bits = new Uint32Array(floats.buffer);
  let state = seed;
  for (let i = 0; i < count; i++) {
    do {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      bits[i] = (state ^ (state >>> 15)) >>> 0;
    } while (!Number.isFinite(floats[i]));
  }
  return floats;
}

const some = finiteFloats(256).map((x) => Math.sin(x) / 16);
const bytesOf = (floats: Float32Array): Buffer =>
  Buffer.from(floats.buffer, floats.byteOffset, floats.byteLength);
const json = (numbers: ArrayLike<unknown>): string => JSON.stringify(Array.from(numbers));
const withElement = (at: number, element: unknown): unknown[] =>
  Array.from(some, (x, i) => (i === at ? element : x));

const refused: readonly [what: string, text: string, received: RegExp][] = [
  ['nothing', '', /an empty value/],
  ['white space', ' \n', /an empty value/],
  ['255 numbers', json(some.subarray(1)), /an array of length 255/],
  ['257 numbers', json([...some, 0.5]), /an array of length 257/],
  ['no number', '[]', /an array of length 0/],
  ['a nested array', `[${json(some)}]`, /an array of length 1/],
  ['an object', JSON.stringify({ embedding: Array.from(some) }), /text that is neither/],
  ['a number', '0.5', /text that is neither/],
  ['words', 'not a vector', /text that is neither|base64 of/],
  ['a string among the numbers', json(withElement(7, '0.5')), /element 7 is not a number/],
  ['null among the numbers', json(withElement(255, null)), /element 255 is not a number/],
  [
    'NaN as Python writes it',
    json(some).replace(/^\[[^,]+/, '[NaN'),
    /begins like a JSON array but is not one/,
  ],
  ['Infinity as Python writes it', json(some).replace(/^\[[^,]+/, '[-Infinity'), /begins like a JSON array/],
  ['a cut-off array', json(some).slice(0, -10), /begins like a JSON array but is not one/],
  ['a number beyond float32', json(withElement(3, 1e39)), /number 3 is not finite/],
  ['a number beyond double', json(some).replace(/^\[[^,]+/, '[1e999'), /number 0 is not finite/],
  ['zeros', json(new Float32Array(256)), /256 zeros/],
  ['numbers that are zero as float32', json(Array(256).fill(1e-60)), /256 zeros/],
  ['base64 of 255 numbers', bytesOf(some.subarray(1)).toString('base64'), /base64 of 1020 bytes/],
  ['base64 of 1025 bytes', Buffer.alloc(1025, 1).toString('base64'), /base64 of 1025 bytes/],
  ['cut-off base64', bytesOf(some).toString('base64url').slice(0, -1), /base64 that is cut off/],
  [
    'base64 of NaN',
    bytesOf(new Float32Array(256).fill(Number.NaN)).toString('base64'),
    /number 0 is not finite/,
  ],
  ['base64 of zeros', Buffer.alloc(1024).toString('base64'), /256 zeros/],
  [
    'base64 with a foreign character',
    bytesOf(some).toString('base64').replace(/./, '$'),
    /text that is neither/,
  ],
];
for (const [what, text, received] of refused) {
  test(`${what} is refused as voice_vector`, () => {
    assert.throws(
      () => parseVoiceVector(text),
      (error: ServiceError) => {
        assert.equal(error.key, 'FIELD_INVALID');
        assert.equal(error.status, 400);
        assert.match(error.message, /^Expected a JSON array of 256 .* for voice_vector but received /);
        assert.match(error.message, received);
        return true;
      },
    );
  });
}

test('a JSON array and base64 in its usual forms are read exactly', () => {
  const base64 = bytesOf(some).toString('base64');
  const forms = [
    json(some),
    ` ${JSON.stringify(Array.from(some), null, 2)}\n`,
    json(asJsonNumbers(some)),
    base64,
    base64.replace(/=+$/, ''),
    bytesOf(some).toString('base64url'),
    base64.replace(/(.{76})/g, '$1\r\n'),
  ];
  for (const text of forms) assert.deepEqual(parseVoiceVector(text), some);
});

test('what is written for a float32 gives the same float32 again, and nothing shorter does', () => {
  const floats = Float32Array.of(
    ...finiteFloats(20_000),
    0,
    -0,
    1,
    0.1,
    1e-45,
    3.4028234663852886e38,
    16777216,
  );
  const numbers = asJsonNumbers(floats);
  const text = JSON.stringify(numbers);
  const back = JSON.parse(text) as number[];
  floats.forEach((x, i) => {
    // JSON.stringify writes -0 as 0, which compares equal.
    assert.equal(Math.fround(back[i] as number) + 0, x + 0);
    const digits = (numbers[i] as number).toExponential().replace(/e.*|\D/g, '').length;
    assert.ok(digits <= 9);
    // A large one can have a shorter decimal exactly between two float32, which must not be used; denormals do not
    // matter.
    if (digits > 1 && Math.abs(x) < 1 && Math.abs(x) > 1e-30)
      assert.notEqual(Math.fround(Number(x.toPrecision(digits - 1))), x, `${x} could be shorter`);
  });
});

test('Python reads the same float32 from what is written, as double and as float32', async (t) => {
  const program = `
import json, struct, sys
numbers = json.loads(sys.argv[1])
data = b''.join(struct.pack('<f', x) for x in numbers)
try:
    import numpy
    assert numpy.array(numbers, dtype=numpy.float32).tobytes() == data
    assert b''.join(numpy.float32(x).tobytes() for x in numbers) == data
except ImportError:
    pass
print(data.hex())`;
  const floats = finiteFloats(2000, 7);
  try {
    const { stdout } = await promisify(execFile)('python3', [
      '-c',
      program,
      JSON.stringify(asJsonNumbers(floats)),
    ]);
    assert.equal(stdout.trim(), bytesOf(floats).toString('hex'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    t.skip('there is no python3');
  }
});
