// SPDX-License-Identifier: Apache-2.0
//
// 1.2 GB of WAV and 300 MB of FLAC, sent by curl through links of `POST /file`, analysed by themselves, their results fetched
// through `GET /file`: on one server with its defaults, and on PostgreSQL and a bucket. Passes when both give the same
// results and no worker grows by more than the limit beside its model. Writes bench/results/asynchronous-flow.json.
//
//   npm run bench:flow [-- --wav-megabytes 1200 --flac-megabytes 300]

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { packageDir } from '../src/base/config/package-dir.js';
import { CurlClient, follow } from './flow/follow.js';
import { MemoryPeak } from './flow/footprint.js';
import { distributed, embedded, type Installation } from './flow/installation.js';
import { writeFlac, writeWav } from './long-recordings.js';
import { describeMachine } from './machine.js';

const { values } = parseArgs({
  options: {
    'wav-megabytes': { type: 'string', default: '1200' },
    'flac-megabytes': { type: 'string', default: '300' },
  },
});
/** By one job, beside the model. */
const allowedMiB = 64;
const SHORT_S = 60;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-flow-'));
const fileOf = (name: string): string => path.join(folder, name);

async function measure(start: (folder: string) => Promise<Installation>) {
  const installation = await start(folder);
  try {
    const client = new CurlClient(installation);
    await client.upload('short.wav', fileOf('short.wav'));
    await client.job('short.wav');
    const workerMib = new MemoryPeak(installation.worker.pid).mib;
    const recordings = [];
    for (const key of ['long.wav', 'long.flac']) {
      const file = fileOf(key);
      recordings.push(await follow(installation, { key, file, bytes: fs.statSync(file).size, workerMib }));
    }
    return { name: installation.name, recordings };
  } catch (error) {
    for (const host of installation.hosts) process.stderr.write(`--- ${host.log}\n`);
    throw error;
  } finally {
    await installation.close();
  }
}

try {
  writeWav(fileOf('short.wav'), SHORT_S * 32_000);
  writeWav(fileOf('long.wav'), Number(values['wav-megabytes']) * 1e6);
  writeFlac(fileOf('long.flac'), Number(values['flac-megabytes']) * 1e6);
  const results = [await measure(embedded), await measure(distributed)];
  const verdicts = results.map(({ recordings }) => JSON.stringify(recordings.map(({ verdict }) => verdict)));
  const isSame = new Set(verdicts).size === 1;
  const growths = results.flatMap(({ recordings }) =>
    recordings.map(({ figures }) => figures.memoryMiB.growthInJob),
  );
  const report = {
    machine: describeMachine(),
    allowedGrowthMiB: allowedMiB,
    isSame,
    results: results.map(({ name, recordings }) => ({
      name,
      recordings: recordings.map(({ figures, verdict }) => ({ ...figures, verdict: verdict.global })),
    })),
  };
  const json = `${JSON.stringify(report, undefined, 2)}\n`;
  process.stdout.write(json);
  fs.writeFileSync(path.join(packageDir, 'bench/results/asynchronous-flow.json'), json);
  if (!isSame || Math.max(...growths) > allowedMiB) process.exitCode = 1;
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}
