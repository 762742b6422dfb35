// SPDX-License-Identifier: Apache-2.0
import { type HeaderLine, head } from './input.js';
import type { Random } from './random.js';

const crlf = Buffer.from('\r\n');

/** The body in chunks of any size. */
export function chunked(body: Buffer, random: Random): Buffer {
  const pieces: Buffer[] = [];
  const largest = random.pick([7, 300, 5000, 100_000]);
  // Avoids tens of thousands of chunks in one input.
  const smallest = Math.ceil(body.length / 200);
  for (let at = 0; at < body.length; ) {
    const piece = body.subarray(at, at + Math.max(smallest, 1 + random.below(largest)));
    const size = piece.length.toString(16);
    const line = random.pick([size, size.toUpperCase()]);
    pieces.push(Buffer.from(`${line}\r\n`), piece, crlf);
    at += piece.length;
  }
  pieces.push(Buffer.from('0\r\n\r\n'));
  return Buffer.concat(pieces);
}

/** A complete request, with its body in one piece or in chunks. */
export function framed(
  random: Random,
  method: string,
  target: string,
  headers: readonly HeaderLine[],
  body: Buffer,
): Buffer {
  if (random.chance(0.85)) {
    const all = [...headers, ['content-length', String(body.length)] as const];
    return Buffer.concat([Buffer.from(head(method, target, all), 'latin1'), body]);
  }
  const all = [...headers, ['transfer-encoding', 'chunked'] as const];
  return Buffer.concat([Buffer.from(head(method, target, all), 'latin1'), chunked(body, random)]);
}

export interface FormPart {
  readonly head: string;
  readonly content: Buffer;
}

export const filePart = (field: string, content: Buffer, filename = 'a'): FormPart => ({
  head: `Content-Disposition: form-data; name="${field}"; filename="${filename}"\r\nContent-Type: application/octet-stream`,
  content,
});

export const fieldPart = (name: string, value: string): FormPart => ({
  head: `Content-Disposition: form-data; name="${name}"`,
  content: Buffer.from(value),
});

export function formBytes(boundary: string, parts: readonly FormPart[]): Buffer {
  const pieces = parts.flatMap(({ head, content }) => [
    Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
    content,
    crlf,
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}
