// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { type Answer, request } from './http-client.js';
import { API_KEY, type TestServer } from './test-server.js';

export interface Link {
  readonly key: string;
  readonly value: string;
}

type Server = Pick<TestServer, 'port'>;

interface LinkOptions {
  readonly base?: '/v1' | '/v0' | '';
  readonly apiKey?: string;
}

export function postFile(
  { port }: Server,
  body: unknown,
  { base = '/v1', apiKey = API_KEY }: LinkOptions = {},
): Promise<Answer> {
  return request(port, `${base}/file`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  });
}

export function getFile(
  { port }: Server,
  query: string,
  { base = '/v1', apiKey = API_KEY }: LinkOptions = {},
): Promise<Answer> {
  return request(port, `${base}/file${query}`, { headers: { 'x-api-key': apiKey } });
}

export async function uploadLink(server: Server, key: string, options?: LinkOptions): Promise<string> {
  const { status, json, text } = await postFile(server, { keys: [key], entity: 'analysis' }, options);
  assert.equal(status, 200, text);
  return json.url[0].value;
}

export async function downloadLinks(server: Server, prefix: string, options?: LinkOptions): Promise<Link[]> {
  const query = new URLSearchParams({ key_prefix: prefix, entity: 'analysis' });
  const { status, json, text } = await getFile(server, `?${query}`, options);
  assert.equal(status, 200, text);
  return json.url;
}

export async function downloadLink(server: Server, key: string, options?: LinkOptions): Promise<string> {
  const links = await downloadLinks(server, key, options);
  return links.find((link) => link.key === `analysis/${key}`)?.value ?? assert.fail(`No link for ${key}.`);
}

/** Stores an object and returns a link to fetch it. */
export async function stored(server: Server, key: string, content: Uint8Array): Promise<string> {
  const answer = await follow(await uploadLink(server, key), { method: 'PUT', body: content });
  assert.equal(answer.status, 200, answer.text);
  return downloadLink(server, key);
}

export interface FollowOptions {
  readonly method?: string;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: Uint8Array;
}

export interface LinkAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
}

/** Sends a request to a link verbatim: nothing is normalised on the way. */
export function follow(
  link: string,
  { method = 'GET', headers = {}, body }: FollowOptions = {},
): Promise<LinkAnswer> {
  const [, host = '', port = '', rest = '/'] = /^http:\/\/([^/:]+):(\d+)(\/.*)$/s.exec(link) ?? [];
  return new Promise((resolve, reject) => {
    const isChunked = headers['transfer-encoding'] !== undefined;
    const length = body && !isChunked && { 'content-length': body.length };
    // Like `request`, and for the same reason.
    const all = { connection: 'keep-alive', ...length, ...headers };
    const options = { host, port, path: rest, method, headers: all, agent: false };
    const outgoing = http.request(options, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const bytes = Buffer.concat(chunks);
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          bytes,
          text: bytes.toString(),
        });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** S3's error code. */
export const s3Code = ({ text }: LinkAnswer): string | undefined => /<Code>(\w+)<\/Code>/.exec(text)?.[1];

/** All files below the objects' folder, but for notes of ended uploads. */
export function filesOnDisk(dataDir: string): string[] {
  const root = path.join(dataDir, 'objects');
  return fs
    .readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.done'))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));
}
