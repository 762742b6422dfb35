// SPDX-License-Identifier: Apache-2.0
//
// Kills a server while it is written to, again and again, and looks what is there at the next start. Nothing that was
// acknowledged may be lost. Writes bench/results/kill-loop.json.
//
//   npm run bench:kill-loop [-- --kills 200]

import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { VeravoxClient } from '../client/src/client.js';
import { packageDir } from '../src/config/package-dir.js';
import { KeyDirectory } from '../src/keys/key-directory.js';
import { verifyAudit } from '../src/records/audit-verify.js';
import { readUsage } from '../src/records/usage-report.js';
import { describeMachine } from './machine.js';

const { values } = parseArgs({ options: { kills: { type: 'string', default: '200' } } });
const kills = Number(values.kills);
const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-kill-loop-'));
const cli = path.join(packageDir, 'dist/cli/main.js');
const env = {
  ...process.env,
  PORT: '0',
  VERAVOX_DATA_DIR: dataDir,
  VERAVOX_DEVICE: 'cpu',
  VERAVOX_SCORING_THREADS: '1',
  VERAVOX_PREPARE_THREADS: '1',
  VERAVOX_OBJECT_TTL_DAYS: '30',
  VERAVOX_ACCOUNT_MAX_OBJECTS: '1000000',
};
const md5 = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex');

const problems: string[] = [];
const keys = [new KeyDirectory(dataDir).create({ name: 'loop', scopes: ['file', 'predict'] }).text];
const apiKey = keys[0] as string;
const stored = new Map<string, string>();
const deleted = new Set<string>();
let overwritten = { acknowledged: -1, sent: -1 };
const counts = { stored: 0, overwritten: 0, deleted: 0, keys: 0, killedCommands: 0, checked: 0 };

/** Version `i` of the object that is overwritten all the time. */
const versionOf = (i: number): Buffer => {
  const bytes = Buffer.alloc(300_000, i & 255);
  bytes.writeUInt32LE(i, 0);
  return bytes;
};

async function startServer() {
  const child = spawn(process.execPath, [cli, 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let output = '';
  const port = await new Promise<number>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk;
      const found = /is (?:ready|running) on \S+:(\d+)/.exec(output)?.[1];
      if (found !== undefined) resolve(Number(found));
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then(() => reject(new Error(`The server did not start: ${output.slice(-1000)}`)));
  });
  output = '';
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  const client = (key: string) =>
    new VeravoxClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: key, maxRetries: 0 });
  return { kill, client: client(apiKey), clientOf: client };
}

type Server = Awaited<ReturnType<typeof startServer>>;

async function contentOf({ client }: Server, key: string): Promise<Buffer | undefined> {
  const { url: links } = await client.getDownloadLinks(key);
  const link = links.find((candidate) => candidate.key === `analysis/${key}`);
  return link && Buffer.from(await (await client.download(link)).arrayBuffer());
}

async function check(server: Server, round: number): Promise<void> {
  const fail = (what: string): void => void problems.push(`start ${round}: ${what}`);
  for (const key of keys.slice(-8)) {
    counts.checked++;
    await server
      .clientOf(key)
      .getDownloadLinks('none')
      .catch((error) => fail(`a key is refused: ${error}`));
  }
  for (const [key, digest] of [...stored].slice(-12)) {
    counts.checked++;
    const content = await contentOf(server, key);
    if (content === undefined || md5(content) !== digest)
      fail(`${key} is ${content ? 'another' : 'missing'}`);
  }
  for (const key of [...deleted].slice(-5)) {
    counts.checked++;
    if ((await contentOf(server, key)) !== undefined) fail(`${key} is back`);
  }
  if (overwritten.acknowledged >= 0) {
    const content = await contentOf(server, 'overwritten');
    const version = content?.readUInt32LE(0) ?? -1;
    const isWhole = content?.equals(versionOf(version)) ?? false;
    if (!isWhole || version < overwritten.acknowledged)
      fail(`version ${version} after ${overwritten.acknowledged}`);
  }
  if (fs.readdirSync(path.join(dataDir, 'objects/incoming')).length > 0) fail('uploads were left behind');
}

/** Until the server is gone, which is what ends each of these. */
async function write(server: Server, round: number, isOver: () => boolean): Promise<void> {
  const { client } = server;
  const again = async (work: () => Promise<void>): Promise<void> => {
    while (!isOver()) await work().catch(() => pause(5));
  };
  const upload = async (key: string, content: Uint8Array): Promise<void> => {
    const {
      url: [link],
    } = await client.createUploadLinks([key]);
    if (link !== undefined) await client.upload(link, content);
  };
  const storing = again(async () => {
    const key = `${round}-${randomBytes(4).toString('hex')}`;
    const content = randomBytes(1000 + Math.floor(Math.random() * 400_000));
    await upload(key, content);
    stored.set(key, md5(content));
    counts.stored++;
    if (Math.random() < 0.2) {
      stored.delete(key);
      await client.deleteFiles([key]);
      deleted.add(key);
      counts.deleted++;
    }
  });
  const overwriting = again(async () => {
    const sent = overwritten.sent + 1;
    overwritten = { ...overwritten, sent };
    await upload('overwritten', versionOf(sent));
    overwritten = { ...overwritten, acknowledged: sent };
    counts.overwritten++;
  });
  await Promise.all([storing, overwriting]);
}

/** A command beside the server, which is killed, too, half of the time. */
async function createKey(): Promise<void> {
  const child = spawn(process.execPath, [cli, 'keys', 'create'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  if (Math.random() < 0.5) setTimeout(() => child.kill('SIGKILL'), Math.random() * 600);
  await ended;
  if (/^vx_\S+\n$/.test(output)) {
    keys.push(output.trim());
    counts.keys++;
  } else counts.killedCommands++;
}

const startedMs = performance.now();
for (let round = 0; round < kills; round++) {
  const server = await startServer();
  await check(server, round);
  let isOver = false;
  const writing = write(server, round, () => isOver);
  const creating = round % 4 === 0 ? createKey() : Promise.resolve();
  await pause(100 + Math.random() * 500);
  await server.kill();
  isOver = true;
  await Promise.all([writing, creating]);
}
const last = await startServer();
await check(last, kills);
await last.kill();
const audit = await verifyAudit(path.join(dataDir, 'audit'));
problems.push(...audit.problems);
const usage = readUsage(dataDir);
const result = {
  machine: describeMachine(),
  kills,
  minutes: Number(((performance.now() - startedMs) / 60_000).toFixed(1)),
  acknowledged: counts,
  audit: { lines: audit.lines, tornLines: audit.remarks.length },
  usageRequests: usage.reduce((sum, { requests }) => sum + requests, 0),
  problems,
};
fs.rmSync(dataDir, { recursive: true, force: true });
const json = `${JSON.stringify(result, undefined, 2)}\n`;
process.stdout.write(json);
fs.writeFileSync(path.join(packageDir, 'bench/results/kill-loop.json'), json);
if (problems.length > 0) process.exitCode = 1;
