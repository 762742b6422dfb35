// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { VeravoxClient } from '../../../client/src/client.js';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { type Acknowledged, md5, versionOf } from './acknowledged.js';

const recording = fs.readFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.flac'));

/** Uploads, overwrites, deletions and predictions, until the end of the server ends each of them. */
export async function writeOverHttp(
  client: VeravoxClient,
  done: Acknowledged,
  isOver: () => boolean,
): Promise<void> {
  const again = async (work: () => Promise<void>): Promise<void> => {
    while (!isOver()) await work().catch(() => pause(5));
  };
  const upload = async (key: string, content: Uint8Array): Promise<void> => {
    const {
      url: [link],
    } = await client.createUploadLinks([key]);
    if (link === undefined) throw new Error('There is no link.');
    await client.upload(link, content);
  };
  const storing = again(async () => {
    const key = randomBytes(8).toString('hex');
    const content = randomBytes(1000 + Math.floor(Math.random() * 400_000));
    await upload(key, content);
    done.stored.set(key, md5(content));
    done.counts.stored++;
    if (Math.random() > 0.2) return;
    done.stored.delete(key);
    await client.deleteFiles([key]);
    done.deleted.add(key);
    done.counts.deleted++;
  });
  const overwriting = again(async () => {
    const version = ++done.overwritten.sent;
    await upload('overwritten', versionOf(version));
    done.overwritten.acknowledged = version;
    done.counts.overwritten++;
  });
  const predicting = again(async () => {
    await client.predict(recording);
    done.counts.predictions++;
  });
  await Promise.all([storing, overwriting, predicting]);
}
