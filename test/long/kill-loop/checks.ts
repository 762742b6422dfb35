// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import type { VeravoxClient } from '../../../client/src/client.js';
import { withDatabase } from '../../../src/state/database/open-database.js';
import { UsageTable } from '../../../src/state/records/usage-table.js';
import { sqliteIn } from '../../support/stored-keys.js';
import { pointsIn } from '../../support/stored-points.js';
import { type Acknowledged, md5, versionOf } from './acknowledged.js';
import type { KillableServer } from './server.js';

/** Checks after a start that acknowledged writes are there; returns the missing ones. */
export async function problemsAfterStart(
  server: KillableServer,
  apiKey: string,
  done: Acknowledged,
  dataDir: string,
): Promise<string[]> {
  const problems: string[] = [];
  const client = server.clientOf(apiKey);
  for (const key of done.keys.slice(-8)) {
    done.counts.checked++;
    await server
      .clientOf(key)
      .getDownloadLinks('none')
      .catch((error) => problems.push(`a key is refused: ${error}`));
  }
  for (const [key, digest] of [...done.stored].slice(-12)) {
    done.counts.checked++;
    const content = await contentOf(client, key);
    if (content === undefined || md5(content) !== digest)
      problems.push(`${key} is ${content ? 'another' : 'missing'}`);
  }
  for (const key of [...done.deleted].slice(-5)) {
    done.counts.checked++;
    if ((await contentOf(client, key)) !== undefined) problems.push(`${key} is back`);
  }
  const { acknowledged } = done.overwritten;
  if (acknowledged >= 0) {
    const content = await contentOf(client, 'overwritten');
    const version = content?.readUInt32LE(0) ?? -1;
    const isWhole = content?.equals(versionOf(version)) ?? false;
    if (!isWhole || version < acknowledged) problems.push(`version ${version} after ${acknowledged}`);
  }
  const points = new Set((await pointsIn(dataDir)).map(({ name }) => name));
  for (const name of done.operatingPoints) {
    done.counts.checked++;
    if (!points.has(name)) problems.push(`the operating point ${name} is missing`);
  }
  if (fs.readdirSync(path.join(dataDir, 'objects/incoming')).length > 0)
    problems.push('uploads were left behind');
  return problems;
}

export async function requestsInUsage(dataDir: string): Promise<number> {
  const rows = await withDatabase(sqliteIn(dataDir), (database) => new UsageTable(database).read());
  return rows.reduce((sum, { requests }) => sum + requests, 0);
}

async function contentOf(client: VeravoxClient, key: string): Promise<Buffer | undefined> {
  const { url: links } = await client.getDownloadLinks(key);
  const link = links.find((candidate) => candidate.key === `analysis/${key}`);
  return link && Buffer.from(await (await client.download(link)).arrayBuffer());
}
