// SPDX-License-Identifier: Apache-2.0
//
// Repeatedly kills a server during writes, and checks its data at the next start. No acknowledged write may be lost.
// Writes bench/results/kill-loop.json.
//
//   npm run bench kill-loop [-- --kills 200]
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine } from '../../bench/support/machine.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { killLoop } from './kill-loop/run.js';

const { values } = parseArgs({ options: { kills: { type: 'string', default: '200' } } });
const kills = Number(values.kills);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-kill-loop-'));
const startedMs = performance.now();
const modelsDir = path.join(packageDir, 'models');
const { problems, ...figures } = await killLoop({ kills, folder, modelsDir, roundsPerCommand: 4 });
const minutes = Number(((performance.now() - startedMs) / 60_000).toFixed(1));
const result = { machine: describeMachine(), kills, minutes, ...figures, problems };
fs.rmSync(folder, { recursive: true, force: true });
const json = `${JSON.stringify(result, undefined, 2)}\n`;
process.stdout.write(json);
fs.writeFileSync(path.join(packageDir, 'bench/results/kill-loop.json'), json);
if (problems.length > 0) process.exitCode = 1;
