// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { human } from './audio.js';
import { type Answer, postJson, type Sending, send, sendTo } from './client.js';
import { expectLinks } from './judge.js';
import { wav } from './wav.js';

/** A key unused by other tests and earlier runs. */
export const freshKey = (extension = 'wav'): string => `contract/${randomUUID()}.${extension}`;

export const requestUploadLinks = (
  keys: unknown,
  entity: unknown = 'analysis',
  { base = '/v1', ...sending }: Omit<Sending, 'method' | 'body'> & { base?: string } = {},
): Promise<Answer> => postJson(`${base}/file`, { keys, entity }, sending);

export const requestDownloadLinks = (
  prefix: string,
  entity = 'analysis',
  { base = '/v1', ...sending }: Sending & { base?: string } = {},
): Promise<Answer> => send(`${base}/file?${new URLSearchParams({ key_prefix: prefix, entity })}`, sending);

export async function uploadLink(key: string, entity = 'analysis', base = '/v1'): Promise<string> {
  const [link] = expectLinks(await requestUploadLinks([key], entity, { base }));
  assert.ok(link);
  return link.value;
}

export async function downloadLink(key: string, entity = 'analysis', base = '/v1'): Promise<string> {
  const [link] = expectLinks(await requestDownloadLinks(key, entity, { base }));
  assert.ok(link, `${key} was stored but is not listed`);
  return link.value;
}

/** Stores bytes under a key of `POST /file` and returns a link of `GET /file` to them. */
export async function store(
  key: string,
  bytes: Uint8Array,
  entity = 'analysis',
  base = '/v1',
): Promise<string> {
  const put = await sendTo(await uploadLink(key, entity, base), 'PUT', {}, bytes);
  assert.equal(Math.floor(put.status / 100), 2, `${put.status} ${put.text}`);
  return downloadLink(key, entity, base);
}

const speechKey = freshKey();
let stored: Promise<unknown> | undefined;

/** 12 s of a human voice, and a link to the stored file: a new one each time, since they expire. */
export const speechBytes = (): Buffer => wav(human(12));
export async function linkToSpeech(): Promise<string> {
  stored ??= store(speechKey, speechBytes());
  await stored;
  return downloadLink(speechKey);
}
