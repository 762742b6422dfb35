// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import http from 'node:http';
import https from 'node:https';
import { setTimeout } from 'node:timers/promises';
import { FORM_TYPE, type FormEntry, formBody } from '../../support/form-body.js';
import { target } from './target.js';

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** Undefined if the content type of the body is not JSON. */
  readonly json: unknown;
}

export interface Sending {
  readonly method?: string;
  /** Null sends no key; the default is the target's. */
  readonly key?: string | null;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: Uint8Array;
  /** A server other than the target. */
  readonly origin?: string;
}

export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Sends a request of the API. Checks the correlation id, which every answer must have. */
export async function send(path: string, sending: Sending = {}): Promise<Answer> {
  const { method = 'GET', key = target.key, headers = {}, body, origin = target.origin } = sending;
  const withKey = key === null ? headers : { 'x-api-key': key, ...headers };
  const answer = await sendTo(`${origin}${path}`, method, withKey, body);
  assert.match(String(answer.headers['x-correlation-id']), uuidPattern, `x-correlation-id of ${path}`);
  // A foreign server may have limits per key: they are obeyed, not judged.
  if (answer.status === 429 && target.own === undefined) {
    await setTimeout(1000 * Number(answer.headers['retry-after'] ?? 1));
    return send(path, sending);
  }
  return answer;
}

/** Sends any request, including to a presigned link, which takes no API key. */
export function sendTo(
  url: string,
  method: string,
  headers: http.OutgoingHttpHeaders = {},
  body?: Uint8Array,
): Promise<Answer> {
  const { request } = url.startsWith('https:') ? https : http;
  return new Promise((resolve, reject) => {
    const length = body && !headers['transfer-encoding'] ? { 'content-length': body.length } : {};
    const outgoing = request(
      url,
      { method, headers: { ...length, ...headers }, agent: false },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          // latin1 keeps one character per byte, so that stored objects can be compared.
          const bytes = Buffer.concat(chunks);
          const isJson = incoming.headers['content-type']?.startsWith('application/json') ?? false;
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            text: bytes.toString(isJson ? 'utf8' : 'latin1'),
            json: isJson ? JSON.parse(bytes.toString('utf8')) : undefined,
          });
          outgoing.destroy();
        });
      },
    );
    // After an early answer, the connection may be closed before the rest of the body is sent.
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

export type FormFields = Readonly<Record<string, string | Uint8Array>>;

/**
 * Bytes become a file, text becomes a field. A list of forms gives fields in order, including repeated ones.
 */
export function postForm(
  path: string,
  form: FormFields | readonly FormEntry[],
  sending: Omit<Sending, 'method' | 'body'> = {},
): Promise<Answer> {
  const entries = Array.isArray(form) ? (form as readonly FormEntry[]) : entriesOf(form as FormFields);
  return send(path, {
    ...sending,
    method: 'POST',
    headers: { 'content-type': FORM_TYPE, ...sending.headers },
    body: formBody(entries),
  });
}

export function entriesOf(fields: FormFields): FormEntry[] {
  return Object.entries(fields).map(([name, content]) =>
    typeof content === 'string' ? { name, content } : { name, content, filename: 'voice.wav' },
  );
}

/** A text is sent as it is, so that it can be malformed. */
export function postJson(
  path: string,
  value: unknown,
  sending: Omit<Sending, 'method' | 'body'> = {},
): Promise<Answer> {
  return send(path, {
    ...sending,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...sending.headers },
    body: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
  });
}
