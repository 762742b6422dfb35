// SPDX-License-Identifier: Apache-2.0
import { EMBEDDING_SIZE, MAX_VOICE_VECTOR_CHARS } from '../../base/contract/limits.js';
import { VOICE_VECTOR_EXPECTED, VOICE_VECTOR_FIELD } from '../../base/contract/voice-fields.js';
import { ServiceError } from '../../base/errors/service-error.js';

const BYTES_PER_NUMBER = 4;
/** Both alphabets of RFC 4648, padded or not. */
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

function refusal(received: string): ServiceError {
  return new ServiceError('FIELD_INVALID', {
    field: VOICE_VECTOR_FIELD,
    expected: VOICE_VECTOR_EXPECTED,
    received,
  });
}

/**
 * Reads an embedding from its text form.
 * @throws ServiceError FIELD_INVALID, with the fault
 */
export function parseVoiceVector(text: string): Float32Array {
  if (text.length > MAX_VOICE_VECTOR_CHARS) throw refusal(`a text of ${text.length} characters`);
  const trimmed = text.trim();
  if (trimmed === '') throw refusal('an empty value');
  const vector = trimmed.startsWith('[') ? fromJson(trimmed) : fromBase64(trimmed.replace(/\s+/g, ''));
  const wrong = vector.findIndex((x) => !Number.isFinite(x));
  if (wrong !== -1) throw refusal(`one whose number ${wrong} is not finite as float32`);
  if (vector.every((x) => x === 0)) throw refusal(`${EMBEDDING_SIZE} zeros`);
  return vector;
}

/**
 * Shortest decimals that give the same float32 again, whether they are read as double first, as JSON.parse and Python's json
 * do, or as float32 at once: half as long as JSON.stringify's text of a float32.
 */
export function asJsonNumbers(vector: Float32Array): number[] {
  return Array.from(vector, shortestDecimal);
}

// Any decimal of six digits survives float32, so a shorter one is found at six; nine digits are always enough.
function shortestDecimal(x: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const decimal = Number(x.toPrecision(digits));
    if (readsAs(decimal, x)) return decimal;
  }
  return Number(x.toPrecision(9));
}

// Not at the border between two float32, at which the two ways of reading could differ.
function readsAs(decimal: number, x: number): boolean {
  const margin = Math.abs(decimal) * Number.EPSILON;
  return Math.fround(decimal - margin) === x && Math.fround(decimal + margin) === x;
}

function fromJson(text: string): Float32Array {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refusal('text that begins like a JSON array but is not one');
  }
  const numbers = value as readonly unknown[];
  if (numbers.length !== EMBEDDING_SIZE) throw refusal(`an array of length ${numbers.length}`);
  const wrong = numbers.findIndex((x) => typeof x !== 'number');
  if (wrong !== -1) throw refusal(`an array whose element ${wrong} is not a number`);
  return Float32Array.from(numbers as readonly number[]);
}

function fromBase64(text: string): Float32Array {
  if (!BASE64.test(text)) throw refusal('text that is neither');
  const bytes = Buffer.from(text, 'base64');
  const padding = text.indexOf('=');
  const data = padding === -1 ? text.length : padding;
  // Four characters hold three bytes; one character that is left over holds none.
  if (data % 4 === 1) throw refusal('base64 that is cut off');
  if (bytes.length !== EMBEDDING_SIZE * BYTES_PER_NUMBER) throw refusal(`base64 of ${bytes.length} bytes`);
  return Float32Array.from({ length: EMBEDDING_SIZE }, (_, i) => bytes.readFloatLE(i * BYTES_PER_NUMBER));
}
