// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Job, verdictOf } from '../../../client/src/index.js';
import { loadAddon } from '../../../src/base/addon/addon.js';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { LEASE_MS } from '../../../src/jobs/queue/leases.js';
import { UsageTable } from '../../../src/state/records/usage-table.js';
import { postgresAt } from '../../support/databases.js';
import { startPostgres } from '../../support/postgres.js';
import { longMonoWav } from '../../support/wav.js';
import { type Host, type Hosts, startHosts } from './hosts.js';
import { WebhookReceiver } from './webhook-receiver.js';

export interface KillRunOptions {
  readonly jobs: number;
  /** Mean time between two kills. */
  readonly killEveryMs: number;
  readonly databaseRestarts: number;
  readonly folder: string;
  readonly modelsDir: string;
}

export interface KillRunFigures {
  readonly kills: number;
  readonly databaseRestarts: number;
  readonly seconds: number;
  /** Begun but not finished, because of a kill or a restart. */
  readonly furtherAttempts: number;
  readonly requestsTriedAgain: number;
  readonly webhooks: {
    /** Refused once by the receiver, to force a repetition. */
    readonly refused: number;
    /** Accepted by the receiver, and sent again. */
    readonly repeated: number;
    /** Part of `repeated`. */
    readonly allowed: number;
  };
  /** Made and answered during the kills. */
  readonly keysMade: number;
  readonly problems: readonly string[];
}

/** Distinct ones, of 10 s to 4 minutes: those above a minute have several steps. */
const RECORDINGS = 12;
const SECONDS_PER_RECORDING = 20;

/** Requests of one process to one receiver at once: at most as many are repeated if it is killed. */
const WEBHOOKS_AT_ONCE = 4;
const PROCESSES = 4;
/** Kills between two new keys. */
const KILLS_PER_KEY = 5;

/** Two thresholds, so that jobs on the same recording differ. */
const inputOf = (i: number) => ({
  key: `recording-${i % RECORDINGS}.wav`,
  options: { model: 'apollo-4-2026-01-16', threshold: i % 2 === 0 ? 0.5 : 0.9, idempotencyKey: `job-${i}` },
});

/**
 * Runs jobs while killing workers and servers and restarting the database, and compares the results with an undisturbed run.
 */
export async function killRun(options: KillRunOptions): Promise<KillRunFigures> {
  const postgres = await startPostgres();
  const receiver = await WebhookReceiver.start();
  let hosts: Hosts | undefined;
  try {
    hosts = await startHosts({
      folder: options.folder,
      postgres,
      servers: 2,
      workers: 2,
      settings: {
        VERAVOX_MODELS_DIR: options.modelsDir,
        VERAVOX_SCORING_THREADS: '1',
        VERAVOX_LOG_LEVEL: 'error',
        VERAVOX_ACCOUNT_MAX_JOBS: '0',
        // Hosts that may be killed use the storage.
        VERAVOX_MAX_TRANSFERS: '256',
        VERAVOX_KEY_SHARE_PERCENT: '100',
        VERAVOX_WEBHOOK_HOSTS: receiver.origin,
        NODE_OPTIONS: `--import=${new URL('loopback-receivers.js', import.meta.url)}`,
      },
    });
    receiver.secret = (await hosts.command('webhooks', 'create-secret')).trim();
    await storeRecordings(hosts);
    const expected = new Map<number, string>();
    for (let i = 0; i < 2 * RECORDINGS; i++) {
      const client = clientOf(hosts, i);
      const { key, options: fields } = inputOf(i);
      const { id } = await client.createJob({ key }, { ...fields, idempotencyKey: `undisturbed-${i}` });
      expected.set(i, lastingPartOf(await client.waitForJob(id, { pollMs: 50 })));
    }
    return await disturb(hosts, postgres, receiver, options, expected);
  } catch (error) {
    for (const { log } of hosts?.all ?? []) process.stderr.write(`--- ${log}\n`);
    throw error;
  } finally {
    await hosts?.kill();
    receiver.close();
    await postgres.remove();
  }
}

const clientOf = ({ servers, apiKey }: Hosts, i: number) =>
  (servers[i % servers.length] as Host).clientOf(apiKey);

/** Properties that must not depend on who did the job, or how often it was begun. */
function lastingPartOf(job: Job): string {
  const { state, error } = job;
  const result = verdictOf(job);
  if (result === null) return `${state}: ${JSON.stringify(error)}`;
  const { prediction_id: _, processing_time: __, ...verdict } = result;
  return JSON.stringify(verdict);
}

async function storeRecordings(hosts: Hosts): Promise<void> {
  const clips = ['human-lj-a', 'ai-kokoro', 'human-vctk-p237', 'ai-wavenet-lj'];
  const client = clientOf(hosts, 0);
  for (let i = 0; i < RECORDINGS; i++) {
    const clip = clips[i % clips.length];
    const bytes = fs.readFileSync(path.join(packageDir, 'test/fixtures', `${clip}.flac`));
    const wav = longMonoWav(
      loadAddon().decode(bytes).samples,
      16_000,
      (i + 1) * SECONDS_PER_RECORDING * 32_000,
    );
    const { url } = await client.createUploadLinks([inputOf(i).key]);
    if (url[0] === undefined) throw new Error('There is no link.');
    await client.upload(url[0], wav);
  }
}

async function disturb(
  hosts: Hosts,
  postgres: Awaited<ReturnType<typeof startPostgres>>,
  receiver: WebhookReceiver,
  { jobs, killEveryMs, databaseRestarts }: KillRunOptions,
  expected: ReadonlyMap<number, string>,
): Promise<KillRunFigures> {
  const startedMs = performance.now();
  const problems: string[] = [];
  const counts = { kills: 0, restarts: 0, triedAgain: 0 };
  let isOver = false;

  const keys: string[] = [];
  const killing = (async () => {
    const victims = [...hosts.workers, ...hosts.workers, ...hosts.servers];
    while (!isOver) {
      await pause(killEveryMs * (0.5 + Math.random()));
      const victim = victims[Math.floor(Math.random() * victims.length)] as Host;
      await victim.kill();
      counts.kills++;
      // It cannot start without the database.
      for (;;) {
        try {
          await victim.start();
          break;
        } catch {
          await pause(500);
        }
      }
      if (counts.kills % KILLS_PER_KEY !== 0) continue;
      const key = await hosts.command('keys', 'create').catch(() => undefined);
      if (key !== undefined) keys.push(key.trim());
    }
  })();

  /** Clients repeat their requests until there is an answer; with the same key, no second job is made. */
  const persistently = async <Result>(
    i: number,
    ask: (client: ReturnType<typeof clientOf>) => Promise<Result>,
  ) => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await ask(clientOf(hosts, i + attempt));
      } catch (error) {
        if (attempt > 600) throw error;
        counts.triedAgain++;
        await pause(200);
      }
    }
  };

  const ids: string[] = [];
  const callbackUrl = `${receiver.origin}/ends`;
  const creating = Array.from({ length: 4 }, async (_, lane) => {
    for (let i = lane; i < jobs; i += 4) {
      const { key, options } = inputOf(i);
      ids[i] = (
        await persistently(i, (client) =>
          client.createJob({ key }, { ...options, callback_url: callbackUrl }),
        )
      ).id;
    }
  });
  const database = postgresAt(hosts.databaseUrl);
  const finished = async (): Promise<number> => {
    try {
      const sql =
        "SELECT COUNT(*) AS finished FROM veravox.jobs WHERE idempotency_key LIKE 'job-%' AND finished_at_ms IS NOT NULL";
      return (await database.query<{ finished: number }>(sql))[0]?.finished ?? 0;
    } catch {
      return 0;
    }
  };
  const deadlineMs = performance.now() + 300_000 + jobs * 1000;
  for (let done = 0; done < jobs; done = await finished()) {
    if (performance.now() > deadlineMs) {
      problems.push(`${jobs - done} jobs have not ended`);
      break;
    }
    if (
      counts.restarts < databaseRestarts &&
      done >= ((counts.restarts + 1) * jobs) / (databaseRestarts + 1)
    ) {
      counts.restarts++;
      await postgres.stop();
      await pause(1000 + Math.random() * 3000);
      await postgres.start();
    }
    await pause(250);
  }
  isOver = true;
  await Promise.all([killing, ...creating]);
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  // Webhooks of killed senders are sent when their lease and the grace after it have ended.
  const lastMs = performance.now() + 3 * LEASE_MS;
  while (receiver.jobs < jobs && performance.now() < lastMs) await pause(250);

  if (new Set(ids).size !== jobs) problems.push(`${new Set(ids).size} ids for ${jobs} jobs`);
  let attempts = 0;
  for (const [i, id] of ids.entries()) {
    const job = await persistently(i, (client) => client.getJob(id));
    attempts += job.attempts;
    const wanted = expected.get(i % (2 * RECORDINGS));
    if (lastingPartOf(job) !== wanted)
      problems.push(`job ${i} (${job.attempts} attempts): ${lastingPartOf(job).slice(0, 300)}`);
  }
  problems.push(...receiver.problemsOf(ids));
  const allowed = WEBHOOKS_AT_ONCE * (counts.kills + PROCESSES * counts.restarts);
  if (receiver.repeated > allowed) problems.push(`${receiver.repeated} webhooks came twice`);
  for (const [i, key] of keys.entries()) {
    const status = await (hosts.servers[i % hosts.servers.length] as Host)
      .clientOf(key)
      .listJobs()
      .then(() => 200, String);
    if (status !== 200) problems.push(`key ${i}: ${status}`);
  }
  problems.push(...(await problemsInDatabase(database, jobs)));
  await database.close();
  return {
    kills: counts.kills,
    databaseRestarts: counts.restarts,
    seconds,
    furtherAttempts: attempts - jobs,
    requestsTriedAgain: counts.triedAgain,
    webhooks: { refused: receiver.refused, repeated: receiver.repeated, allowed },
    keysMade: keys.length,
    problems,
  };
}

/** Leftovers, and the recorded usage. */
async function problemsInDatabase(database: ReturnType<typeof postgresAt>, jobs: number): Promise<string[]> {
  const problems: string[] = [];
  const count = async (what: string, sql: string, wanted: number): Promise<void> => {
    const [row] = await database.query<{ n: number }>(sql);
    if (row?.n !== wanted) problems.push(`${row?.n} ${what} instead of ${wanted}`);
  };
  const total = jobs + 2 * RECORDINGS;
  await count(
    'jobs that succeeded',
    "SELECT COUNT(*) AS n FROM veravox.jobs WHERE state = 'succeeded'",
    total,
  );
  await count('jobs', 'SELECT COUNT(*) AS n FROM veravox.jobs', total);
  await count(
    'webhooks that were delivered',
    "SELECT COUNT(*) AS n FROM veravox.webhook_deliveries WHERE state = 'delivered'",
    jobs,
  );
  await count('saved steps', 'SELECT COUNT(*) AS n FROM veravox.job_steps', 0);
  const usage = (await new UsageTable(database).read()).filter(({ route }) => route === 'job');
  const requests = usage.reduce((sum, row) => sum + row.requests, 0);
  const errors = usage.reduce((sum, row) => sum + row.errors, 0);
  if (requests !== total || errors !== 0)
    problems.push(`usage counts ${requests} jobs with ${errors} errors`);
  return problems;
}
