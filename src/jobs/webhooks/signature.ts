// SPDX-License-Identifier: Apache-2.0
import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

/**
 * The header `webhook-signature` of the Standard Webhooks specification: one signature per secret.
 * @param secrets `whsec_` and base64
 * @param atS seconds since 1970, as in `webhook-timestamp`
 */
export function webhookSignature(secrets: readonly string[], id: string, atS: number, body: string): string {
  const signed = `${id}.${atS}.${body}`;
  return secrets
    .map((secret) => Buffer.from(secret.slice(PREFIX.length), 'base64'))
    .map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
    .join(' ');
}
