// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#verify.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { human, sameHuman, silence } from './support/audio.js';
import { entriesOf, postForm, postJson } from './support/client.js';
import { expectError, expectNear, expectOneOf, expectVerification } from './support/judge.js';
import { audioFormats, encoded } from './support/media.js';
import { asBase64, enrolledEmbedding, verify } from './support/voice.js';
import { wav } from './support/wav.js';

const path = '/v1/voiceid/verify';
const sample = wav(sameHuman(5.4));

describe('POST /voiceid/verify (v1)', () => {
  let embedding: readonly number[];
  let vector: string;

  before(async () => {
    embedding = await enrolledEmbedding();
    vector = JSON.stringify(embedding);
  });

  test('audio_file and voice_vector are required', async () => {
    expectError(await postForm(path, { voice_vector: vector }), 400, /audio_file/);
    expectError(await postForm(path, { audio_file: sample }), 400, /voice_vector/);
  });

  for (const format of audioFormats) {
    test(`audio_file may be ${format.name}`, async () => {
      expectVerification(await verify(await encoded(sample, format), vector));
    });
  }

  test('user_id is optional, any text', async () => {
    for (const user of ['somebody', '', 'ü@example.com']) {
      expectVerification(await verify(sample, vector, { user_id: user }));
    }
  });

  test('voice_vector is a JSON array, or base64 of float32: the same similarity', async () => {
    const asJson = expectVerification(await verify(sample, vector));
    const asBytes = expectVerification(await verify(sample, asBase64(embedding)));
    expectNear(asBytes.similarity_score, asJson.similarity_score, 1e-4, 'similarity_score');
    assert.equal(asBytes.is_match, asJson.is_match);
  });

  test('voice_vector may have white space between its numbers, and exponents', async () => {
    const spaced = `[ ${embedding.map((number) => number.toExponential(10)).join(' , ')} ]\n`;
    expectVerification(await verify(sample, spaced));
  });

  const numbers = (count: number, value: unknown = 0.0625): unknown[] =>
    Array.from({ length: count }, () => value);
  const floats = (count: number, value = 0.0625): string => asBase64(numbers(count, value) as number[]);
  const refused: Record<string, string> = {
    'no text': '',
    'a word': 'voice',
    'an object': '{"embedding": []}',
    'a number': '256',
    null: 'null',
    'an empty array': '[]',
    '255 numbers': JSON.stringify(numbers(255)),
    '257 numbers': JSON.stringify(numbers(257)),
    '256 texts': JSON.stringify(numbers(256, '0.0625')),
    '255 numbers and null': JSON.stringify([...numbers(255), null]),
    '255 numbers and an array': JSON.stringify([...numbers(255), [1]]),
    '256 numbers in an array in an array': JSON.stringify([numbers(256)]),
    '256 zeros': JSON.stringify(numbers(256, 0)),
    '255 numbers and NaN': `[${numbers(255)}, NaN]`,
    '255 numbers and 1e999': `[${numbers(255)}, 1e999]`,
    '255 numbers and one that no float32 holds': `[${numbers(255)}, 1e39]`,
    'an array that does not end': JSON.stringify(numbers(256)).slice(0, -1),
    'numbers separated by commas': numbers(256).join(','),
    'base64 of 255 numbers': floats(255),
    'base64 of 257 numbers': floats(257),
    'base64 of 256 zeros': floats(256, 0),
    'base64 with NaN': floats(256, Number.NaN),
    'base64 with infinity': floats(256, Number.POSITIVE_INFINITY),
    'base64 that lacks a character': floats(256).slice(1),
    'base64 with another character': `*${floats(256).slice(1)}`,
    'hexadecimal digits': Buffer.from(floats(256), 'base64').toString('hex'),
  };
  for (const [name, text] of Object.entries(refused)) {
    test(`voice_vector may not be ${name}`, async () => {
      expectError(await verify(sample, text), 400, /voice_vector/);
    });
  }

  test('audio_file needs 1 s of speech', async () => {
    const refusals = [
      [400, 'validation_error'],
      [422, 'validation_error'],
    ] as const;
    expectOneOf(await verify(wav(human(0.9)), vector), refusals);
    expectOneOf(await verify(wav(silence(5)), vector), refusals);
    expectVerification(await verify(wav(human(3)), vector));
  });

  test('what is no audio is 422', async () => {
    expectError(await verify(Buffer.from('This is no audio. '.repeat(500)), vector), 422);
  });

  test('fields that nobody knows are ignored', async () => {
    expectVerification(await verify(sample, vector, { threshold: 'none', color: 'blue' }));
  });
  for (const name of ['audio_file', 'voice_vector', 'user_id']) {
    test(`${name} may not be given twice`, async () => {
      const form = { audio_file: sample, voice_vector: vector, user_id: 'a' };
      const again = entriesOf(form).filter((entry) => entry.name === name);
      expectError(await postForm(path, [...entriesOf(form), ...again]), 400, new RegExp(name));
    });
  }
  test('a field over 64 KiB is 400', async () => {
    expectError(await verify(sample, vector.padEnd(65_537)), 400, /voice_vector/);
  });

  test('there is no JSON form', async () => {
    expectError(await postJson(path, { voice_vector: embedding }), 400);
  });
});
