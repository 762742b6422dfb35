// SPDX-License-Identifier: Apache-2.0
//
// A process that works on jobs whose steps depend only on the recording. Short leases reveal its death soon.
//
//   node job-host.js DATABASE_URL
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import type { RecordingRequest, RecordingStep } from '../../src/analysis/analyser/recording.js';
import { JobWorkTable } from '../../src/jobs/queue/job-work-table.js';
import { runJob } from '../../src/jobs/work/job-runner.js';
import { JobWorkers } from '../../src/jobs/work/job-workers.js';
import { recordingEnd } from './analyser-double.js';
import { MemoryByteSource } from './byte-sources.js';
import { postgresAt } from './databases.js';

const STEPS = 6;
const STEP_MS = 60;
const LEASE_MS = 2000;
const [url = ''] = process.argv.slice(2);

async function* steps({ source, cursor }: RecordingRequest): AsyncGenerator<RecordingStep, void, void> {
  for (let i = (cursor?.audioS ?? 0) / 5; i < STEPS; i++) {
    await pause(STEP_MS);
    const results = {
      windows: [{ startS: 5 * i, endS: 5 * i + 5, scores: [((source.bytes * (i + 1)) % 97) / 97] }],
      skipped: [],
    };
    const rest = {
      version: 3,
      source: 's',
      scoreFingerprint: 'f',
      silenceThresholdPercent: 80,
      checkpoint: '',
    } as const;
    if (i < STEPS - 1) yield { isLast: false, ...results, cursor: { ...rest, audioS: 5 * i + 5 } };
    else yield { ...recordingEnd('m'), ...results };
  }
}

const workTable = new JobWorkTable(postgresAt(url), LEASE_MS, { retryDelayMs: 0 });
new JobWorkers(workTable, {
  workers: 2,
  pollMs: 200,
  onTurn: () => {},
  log: pino({ level: 'silent' }),
  run: (work, limits) =>
    runJob(
      work,
      {
        workTable,
        analyser: { analyseRecording: steps },
        openSource: async (source) =>
          new MemoryByteSource(Buffer.alloc('object' in source ? Number(source.object) : 1)),
        enroll: async () => Promise.reject(new Error('Nothing is enrolled here.')),
        store: async () => {},
        maxBytes: 1 << 20,
        maxDurationS: 86_400,
        timeLimitMs: 60_000,
        heartbeatMs: 300,
      },
      limits,
    ),
});
process.send?.('working');
// Ends with its test.
process.on('disconnect', () => process.exit());
