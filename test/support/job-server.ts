// SPDX-License-Identifier: Apache-2.0
import path from 'node:path';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import type { Config } from '../../src/base/config/options.js';
import { consoleOf } from '../../src/console/console-wing.js';
import type { AdminStateParts } from '../../src/console/routes/admin-parts.js';
import { type JobParts, jobPartsOf } from '../../src/jobs/queue/job-parts.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { SqliteDatabase } from '../../src/state/database/sqlite-database.js';
import type { AuditEvent } from '../../src/state/records/audit-chain.js';
import { cheapPasswords } from './admin.js';
import { type Answer, request } from './http-client.js';
import { temporaryFolder } from './temporary-folder.js';
import { API_KEY, startTestServer, type TestParts, type TestServer, testConfig } from './test-server.js';

export interface JobServer extends TestServer {
  readonly jobParts: JobParts;
  readonly database: SqliteDatabase;
  /** Audit entries of the admin API. */
  readonly acts: readonly AuditEvent[];
  /** Sends JSON with a key. */
  call(method: string, path: string, body?: object, apiKey?: string): Promise<Answer>;
  /** Stores a file. @returns its link */
  store(key: string, file: Uint8Array, entity?: string, apiKey?: string): Promise<string>;
}

/** A server with jobs in SQLite, in a file opened by `open`; its analyses are doubles. */
export async function startJobServer(
  test: TestContext,
  overrides: Partial<Config> = {},
  parts: TestParts = {},
  admin: Partial<Pick<AdminStateParts, 'noteFirst' | 'flushUsage'>> = {},
  open = (file: string): SqliteDatabase => new SqliteDatabase(file, { pollMs: 20 }),
): Promise<JobServer> {
  const database = open(path.join(temporaryFolder(test), 'jobs.db'));
  await migrate(database, migrations);
  const jobParts = jobPartsOf({ ...testConfig, ...overrides }, database, undefined, 0);
  const acts: AuditEvent[] = [];
  const console = consoleOf(
    {
      database,
      note: (event) => void acts.push(event),
      noteFirst: async (event) => void acts.push(event),
      flushUsage: async () => {},
      passwords: cheapPasswords(),
      ...admin,
    },
    pino({ level: 'silent' }),
    undefined,
  );
  const server = await startTestServer(test, overrides, {
    console,
    ...parts,
    jobs: jobParts,
  });
  test.after(async () => {
    await server.server.stop();
    await console.health.close();
    await database.close();
  });
  const call: JobServer['call'] = (method, at, body, apiKey = API_KEY) =>
    request(server.port, at, {
      method,
      headers: { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: Buffer.from(JSON.stringify(body)) }),
    });
  return {
    ...server,
    jobParts,
    database,
    acts,
    call,
    async store(key, file, entity = 'analysis', apiKey = API_KEY) {
      const { json } = await call('POST', '/v1/file', { keys: [key], entity }, apiKey);
      const put = await fetch(json.url[0].value, { method: 'PUT', body: new Uint8Array(file) });
      if (put.status !== 200) throw new Error(`The upload was answered with ${put.status}.`);
      const query = `key_prefix=${encodeURIComponent(key)}&entity=${entity}`;
      const links = await call('GET', `/v1/file?${query}`, undefined, apiKey);
      return links.json.url[0].value;
    },
  };
}
