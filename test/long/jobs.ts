// SPDX-License-Identifier: Apache-2.0
//
// Two servers and two workers on one PostgreSQL database do short jobs, while random ones of them are killed and the database is
// restarted: each job must end once, with the result of an undisturbed run, and count once. Also measures the jobs per second
// into and out of the queue. Writes bench/results/jobs.json.
//
//   npm run bench jobs [-- --jobs 1000 --kill-every-ms 4000 --database-restarts 4]
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine } from '../../bench/support/machine.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { killRun } from './jobs/kill-run.js';
import { queueRates } from './jobs/queue-rates.js';

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '1000' },
    'kill-every-ms': { type: 'string', default: '4000' },
    'database-restarts': { type: 'string', default: '4' },
    'queue-jobs': { type: 'string', default: '2000' },
  },
});
const jobs = Number(values.jobs);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-jobs-'));
try {
  const queue = await queueRates(folder, Number(values['queue-jobs']));
  const { problems, ...kills } = await killRun({
    jobs,
    killEveryMs: Number(values['kill-every-ms']),
    databaseRestarts: Number(values['database-restarts']),
    folder,
    modelsDir: path.join(packageDir, 'models'),
  });
  const json = `${JSON.stringify({ machine: describeMachine(), queue, killRun: { jobs, ...kills, problems } }, undefined, 2)}\n`;
  process.stdout.write(json);
  fs.writeFileSync(path.join(packageDir, 'bench/results/jobs.json'), json);
  if (problems.length > 0) process.exitCode = 1;
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}
