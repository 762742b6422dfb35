// SPDX-License-Identifier: Apache-2.0
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { verifyAudit } from '../../../src/state/records/audit-verify.js';
import { createKey as storeKey } from '../../support/stored-keys.js';
import { Acknowledged } from './acknowledged.js';
import { problemsAfterStart, requestsInUsage } from './checks.js';
import { calibrate, createKey, writeScores } from './commands.js';
import { startServer } from './server.js';
import { writeOverHttp } from './writes.js';

export interface KillLoopOptions {
  readonly kills: number;
  readonly folder: string;
  readonly modelsDir: string;
  /** Rounds between two commands beside the server. */
  readonly roundsPerCommand: number;
}

export interface KillLoopResult {
  readonly acknowledged: Acknowledged['counts'];
  readonly audit: { readonly lines: number; readonly tornLines: number };
  readonly usageRequests: number;
  /** Lost or damaged data. */
  readonly problems: readonly string[];
}

const LONGEST_PAUSE_MS = 600;
const PATIENCE_MS = 60_000;

/** Every second kill waits for this: on a slow disk, a write may take longer than the pause. */
async function writtenSince(before: Acknowledged['counts'], now: Acknowledged['counts']): Promise<void> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  const kinds = ['stored', 'overwritten', 'predictions'] as const;
  while (kinds.some((kind) => now[kind] === before[kind])) {
    if (performance.now() > deadlineMs) throw new Error('Not everything was written within a minute.');
    await pause(5);
  }
}

/** Repeatedly kills a server during writes, and checks at each start that all acknowledged writes are there. */
export async function killLoop(options: KillLoopOptions): Promise<KillLoopResult> {
  const { kills, folder, modelsDir, roundsPerCommand } = options;
  const dataDir = path.join(folder, 'data');
  const scoresFile = path.join(folder, 'scores.csv');
  const env = {
    ...process.env,
    PORT: '0',
    VERAVOX_DATA_DIR: dataDir,
    VERAVOX_MODELS_DIR: modelsDir,
    VERAVOX_DEVICE: 'cpu',
    VERAVOX_SCORING_THREADS: '1',
    VERAVOX_PREPARE_THREADS: '1',
    VERAVOX_OBJECT_TTL_DAYS: '30',
    VERAVOX_ACCOUNT_MAX_OBJECTS: '1000000',
  };
  const done = new Acknowledged();
  const apiKey = (await storeKey(dataDir, { name: 'loop', scopes: ['file', 'predict'] })).text;
  done.keys.push(apiKey);
  await writeScores(scoresFile, modelsDir);
  const problems: string[] = [];
  let usageRequests = 0;

  const startAndCheck = async (round: number) => {
    const requests = await requestsInUsage(dataDir);
    if (requests < usageRequests) problems.push(`start ${round}: usage lost ${usageRequests - requests}`);
    usageRequests = requests;
    const server = await startServer(env);
    const found = await problemsAfterStart(server, apiKey, done, dataDir);
    problems.push(...found.map((problem) => `start ${round}: ${problem}`));
    return server;
  };
  const runCommand = async (round: number): Promise<void> => {
    if (round % roundsPerCommand !== 0) return;
    if (round % (2 * roundsPerCommand) === 0) await createKey(done, env);
    else await calibrate(done, env, scoresFile, `point-${round}`);
  };

  for (let round = 0; round < kills; round++) {
    const server = await startAndCheck(round);
    let isOver = false;
    const writing = writeOverHttp(server.clientOf(apiKey), done, () => isOver);
    const command = runCommand(round);
    try {
      if (round % 2 === 1) await writtenSince({ ...done.counts }, done.counts);
      await pause(Math.random() * LONGEST_PAUSE_MS);
    } finally {
      await server.kill();
      isOver = true;
    }
    await Promise.all([writing, command]);
  }
  await (await startAndCheck(kills)).kill();
  const audit = await verifyAudit(path.join(dataDir, 'audit'));
  problems.push(...audit.problems);
  return {
    acknowledged: done.counts,
    audit: { lines: audit.lines, tornLines: audit.remarks.length },
    usageRequests: await requestsInUsage(dataDir),
    problems,
  };
}
