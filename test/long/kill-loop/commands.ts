// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { loadManifest } from '../../../src/analysis/models/model-file.js';
import { scoreFingerprintOf } from '../../../src/analysis/models/score-fingerprint.js';
import type { Acknowledged } from './acknowledged.js';
import { cli } from './server.js';

const LONGEST_MS = 600;
const CLIPS = 20;

/** Runs a command beside the server, and kills it half of the time. Undefined if it did not end by itself. */
async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
  const child = spawn(process.execPath, [cli, ...args], { env, stdio });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  if (Math.random() < 0.5) setTimeout(() => child.kill('SIGKILL'), Math.random() * LONGEST_MS);
  return (await ended) === 0 ? output : undefined;
}

export async function createKey(done: Acknowledged, env: NodeJS.ProcessEnv): Promise<void> {
  const key = (await run(['keys', 'create'], env))?.trim();
  if (key === undefined) {
    done.counts.killedCommands++;
    return;
  }
  done.keys.push(key);
  done.counts.keys++;
}

/** A list of scores for `calibrate`, by the first detector. */
export async function writeScores(file: string, modelsDir: string): Promise<void> {
  const { models } = await loadManifest(modelsDir);
  const model = models.find(({ task }) => task === 'detection');
  if (model === undefined) throw new Error('There is no detector.');
  const fingerprint = scoreFingerprintOf(model);
  const row = (label: string, i: number, score: number): string =>
    `${path.basename(file)}${i}.wav,${label},${score},p${i},${model.id},${fingerprint}`;
  const rows = Array.from({ length: CLIPS }, (_, i) => [
    row('bonafide', i, (0.8 * i) / CLIPS),
    row('spoof', i, 1 - (0.8 * i) / CLIPS),
  ]);
  const lines = ['path,label,score,speaker,model,model_fingerprint', ...rows.flat()];
  fs.writeFileSync(file, lines.join('\n'));
}

export async function calibrate(
  done: Acknowledged,
  env: NodeJS.ProcessEnv,
  scoresFile: string,
  name: string,
): Promise<void> {
  const output = await run(['calibrate', scoresFile, '--name', name, '--target-fpr', '0.1'], env);
  if (output === undefined) {
    done.counts.killedCommands++;
    return;
  }
  done.operatingPoints.push(name);
  done.counts.operatingPoints++;
}
