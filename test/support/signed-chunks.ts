// SPDX-License-Identifier: Apache-2.0
//
// Uploads in signed chunks, which programs such as mc send.
import { createHash, createHmac } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { follow, type LinkAnswer } from './file-links.js';

export const TRAILER = 'x-amz-checksum-crc32';

export function crc32Of(bytes: Uint8Array): string {
  const digest = Buffer.alloc(4);
  digest.writeUInt32BE(crc32(bytes));
  return digest.toString('base64');
}

const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');
const hmac = (key: Uint8Array | string, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();

export function chunksOf(bytes: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  return [...chunks, Buffer.alloc(0)];
}

export interface Signing {
  readonly secrets: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly link: string;
  readonly content: Buffer;
  /** As SigV4 writes it. */
  readonly query?: string;
  readonly hasTrailer: boolean;
  readonly trailer?: string;
  /** Changes the body after signing. */
  readonly change?: (body: Buffer) => Buffer;
}

/** As in the documentation of SigV4, without our own code. */
export function putSigned(signing: Signing): Promise<LinkAnswer> {
  const { secrets, link, content, query = '', hasTrailer, trailer = crc32Of(content), change } = signing;
  const { pathname, origin, host } = new URL(link);
  const date = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const steps = [date.slice(0, 8), 'us-east-1', 's3', 'aws4_request'];
  const scope = steps.join('/');
  const key = steps.reduce<Buffer>(hmac, Buffer.from(`AWS4${secrets.secretAccessKey}`));
  const sign = (kind: string, text: string): string =>
    hmac(key, `${kind}\n${date}\n${scope}\n${text}`).toString('hex');
  const payload = `STREAMING-AWS4-HMAC-SHA256-PAYLOAD${hasTrailer ? '-TRAILER' : ''}`;
  const headers: Record<string, string> = {
    host,
    'x-amz-content-sha256': payload,
    'x-amz-date': date,
    'x-amz-decoded-content-length': String(content.length),
    ...(hasTrailer && { 'x-amz-trailer': TRAILER }),
  };
  const names = Object.keys(headers).join(';');
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
  const canonical = `PUT\n${pathname}\n${query}\n${lines.join('')}\n${names}\n${payload}`;
  let signature = sign('AWS4-HMAC-SHA256', sha256(canonical));
  const authorization = `AWS4-HMAC-SHA256 Credential=${secrets.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  const pieces: Buffer[] = [];
  for (const chunk of chunksOf(content, 65_536)) {
    signature = sign('AWS4-HMAC-SHA256-PAYLOAD', `${signature}\n${sha256('')}\n${sha256(chunk)}`);
    pieces.push(Buffer.from(`${chunk.length.toString(16)};chunk-signature=${signature}\r\n`), chunk);
    if (chunk.length > 0 || !hasTrailer) pieces.push(Buffer.from('\r\n'));
  }
  if (hasTrailer) {
    signature = sign('AWS4-HMAC-SHA256-TRAILER', `${signature}\n${sha256(`${TRAILER}:${trailer}\n`)}`);
    pieces.push(Buffer.from(`${TRAILER}:${trailer}\r\nx-amz-trailer-signature:${signature}\r\n\r\n`));
  }
  const body = Buffer.concat(pieces);
  return follow(`${origin}${pathname}?${query}`, {
    method: 'PUT',
    headers: { ...headers, authorization, 'content-encoding': 'aws-chunked' },
    body: change?.(body) ?? body,
  });
}
