// SPDX-License-Identifier: Apache-2.0
import type { Job } from './types.js';

/** A server's message to the `callback_url` of a job. */
export interface WebhookEvent {
  readonly type: 'job.succeeded' | 'job.failed' | 'job.cancelled';
  /** Of the end of the job. */
  readonly timestamp: string;
  /** The job as `getJob` answers it. */
  readonly data: Omit<Job, 'webhook'> & {
    /** The result is too large for a webhook: fetch the job. */
    readonly result_omitted: boolean;
  };
}

export interface WebhookRequest {
  /** As it was received: parsed and written again, it has other bytes. */
  readonly body: string;
  /** Of the request: a `Headers`, or Node's `request.headers`. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface VerifyWebhookOptions {
  /** Older ones, and those from the future, are refused; default: 300. */
  readonly toleranceS?: number;
  /** Milliseconds since 1970; default: now. */
  readonly nowMs?: number;
}

/** The request does not come from the server that has the secret, or is an old one. */
export class WebhookRefused extends Error {
  override readonly name = 'WebhookRefused';
}

const PREFIX = 'whsec_';
const VERSION = 'v1,';

/**
 * Checks the sender and the time of a webhook. Deliveries can come twice: `webhook-id` tells.
 * @param secrets `whsec_...`; several while they are being replaced
 * @throws WebhookRefused; TypeError for a text that is not a secret
 */
export async function verifyWebhook(
  { body, headers }: WebhookRequest,
  secrets: string | readonly string[],
  { toleranceS = 300, nowMs = Date.now() }: VerifyWebhookOptions = {},
): Promise<WebhookEvent> {
  const header = (name: string): string => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name];
    if (typeof value !== 'string') throw new WebhookRefused(`The request has no header ${name}.`);
    return value;
  };
  const id = header('webhook-id');
  const sentAt = header('webhook-timestamp');
  const given = header('webhook-signature')
    .split(' ')
    .filter((part) => part.startsWith(VERSION));
  if (!/^\d{1,12}$/.test(sentAt) || Math.abs(nowMs / 1000 - Number(sentAt)) > toleranceS) {
    throw new WebhookRefused(
      `The webhook was sent at ${sentAt}, which is not within ${toleranceS} s of now.`,
    );
  }
  const signed = new TextEncoder().encode(`${id}.${sentAt}.${body}`);
  for (const secret of typeof secrets === 'string' ? [secrets] : secrets) {
    const key = await keyOf(secret);
    for (const signature of given) {
      const bytes = bytesIn(signature.slice(VERSION.length));
      // Takes the same time wherever the first difference is.
      if (bytes !== undefined && (await crypto.subtle.verify('HMAC', key, bytes, signed))) {
        return JSON.parse(body) as WebhookEvent;
      }
    }
  }
  throw new WebhookRefused('The webhook is not signed with the secret.');
}

function keyOf(secret: string): ReturnType<typeof crypto.subtle.importKey> {
  const bytes = secret.startsWith(PREFIX) ? bytesIn(secret.slice(PREFIX.length)) : undefined;
  if (bytes === undefined || bytes.length === 0) {
    throw new TypeError(`Expected a secret that begins with ${PREFIX}, followed by base64.`);
  }
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function bytesIn(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}
