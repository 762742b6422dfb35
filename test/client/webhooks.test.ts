// SPDX-License-Identifier: Apache-2.0
//
// The client's verification of webhooks, against signatures made by openssl.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { verifyWebhook, WebhookRefused } from '../../client/src/index.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const body = '{"type":"job.failed","timestamp":"2026-11-22T10:00:00.000Z","data":{"id":"ü"}}';
const AT_S = 1_763_800_000;
const now = { nowMs: 1000 * AT_S };

function signed(secret: string, text = body, id = 'msg', atS = AT_S): Record<string, string> {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64').toString('hex');
  const args = ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${key}`, '-binary'];
  const signature = execFileSync('openssl', args, { input: `${id}.${atS}.${text}` }).toString('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(atS), 'webhook-signature': `v1,${signature}` };
}

test('what is changed, old, unsigned or signed with another secret is refused', async () => {
  const good = signed(SECRET);
  const refused: [name: string, body: string, headers: Record<string, string>][] = [
    ['another body', `${body} `, good],
    ['another id', body, { ...good, 'webhook-id': 'other' }],
    ['another time', body, { ...good, 'webhook-timestamp': String(AT_S + 1) }],
    ['too old', body, signed(SECRET, body, 'msg', AT_S - 301)],
    ['from the future', body, signed(SECRET, body, 'msg', AT_S + 301)],
    ['no time', body, { ...good, 'webhook-timestamp': 'now' }],
    ['another secret', body, signed(OTHER)],
    ['another version', body, { ...good, 'webhook-signature': `v2${good['webhook-signature']?.slice(2)}` }],
    ['no base64', body, { ...good, 'webhook-signature': 'v1,%%' }],
    ['an empty signature', body, { ...good, 'webhook-signature': 'v1,' }],
  ];
  for (const name of Object.keys(good)) {
    const { [name]: _, ...rest } = good;
    refused.push([`without ${name}`, body, rest]);
  }
  for (const [name, text, headers] of refused) {
    await assert.rejects(verifyWebhook({ body: text, headers }, SECRET, now), WebhookRefused, name);
  }
  for (const secret of ['', 'whsec_', 'sk_AAAA', 'whsec_%']) {
    await assert.rejects(verifyWebhook({ body, headers: good }, secret, now), TypeError, secret);
  }
});

test('what is signed with one of the secrets is taken, at once or a little late', async () => {
  const event = await verifyWebhook({ body, headers: signed(SECRET) }, [OTHER, SECRET], now);
  assert.deepEqual(event, JSON.parse(body));
  const both = {
    ...signed(SECRET),
    'webhook-signature': `${signed(OTHER)['webhook-signature']} v1a,x ${signed(SECRET)['webhook-signature']}`,
  };
  await verifyWebhook({ body, headers: new Headers(both) }, SECRET, now);
  const late = { body, headers: signed(SECRET, body, 'msg', AT_S - 290) };
  await verifyWebhook(late, SECRET, now);
  await assert.rejects(verifyWebhook(late, SECRET, { ...now, toleranceS: 60 }), WebhookRefused);
});
