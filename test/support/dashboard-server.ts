// SPDX-License-Identifier: Apache-2.0
//
// A server with a usable dashboard: with models, database, keys, usage and jobs as in service.
import path from 'node:path';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import type { Page } from 'playwright-core';
import { VeravoxClient } from '../../client/src/index.js';
import type { FullAnalyser } from '../../src/analysis/analyser/recording.js';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { startPipeline } from '../../src/analysis/pipeline/pipeline.js';
import { Closers } from '../../src/base/closers.js';
import type { Config } from '../../src/base/config/options.js';
import type { Role } from '../../src/base/contract/roles.js';
import type { Scope } from '../../src/base/contract/scopes.js';
import { ServiceMetrics } from '../../src/base/observe/service-metrics.js';
import { consoleOf } from '../../src/console/console-wing.js';
import { UserTable } from '../../src/console/users/user-table.js';
import { jobPartsOf } from '../../src/jobs/queue/job-parts.js';
import { openServerRecords } from '../../src/service/server-records.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { SqliteDatabase } from '../../src/state/database/sqlite-database.js';
import { KeyCache } from '../../src/state/keys/key-cache.js';
import { KeyTable } from '../../src/state/keys/key-table.js';
import { addUser, cheapPasswords, PASSWORD } from './admin.js';
import { temporaryFolder } from './temporary-folder.js';
import { startServerWith, type TestParts, testConfig } from './test-server.js';
import { writeTinyModels } from './tiny-models.js';
import { until } from './until.js';

export interface DashboardServer {
  readonly origin: string;
  readonly database: SqliteDatabase;
  /** Signs the page's browser in as a user with this role and name, made if necessary, and opens the view. */
  signIn(page: Page, role: Role, view?: string, name?: string): Promise<void>;
  /** A client with a new key of the account `acme`. */
  client(keyName: string, scopes?: readonly Scope[]): Promise<VeravoxClient>;
}

export interface DashboardServerOptions extends Pick<TestParts, 'fetchSurroundings'> {
  readonly config?: Partial<Config>;
  /** Put in front of the real pipeline. */
  readonly around?: (analyser: FullAnalyser) => FullAnalyser;
}

/** With its own database and files, and a fast-loading detector, unless `config.modelsDir` is set. */
export async function startDashboardServer(
  test: TestContext,
  { config: overrides = {}, around = (analyser) => analyser, ...parts }: DashboardServerOptions = {},
): Promise<DashboardServer> {
  const config: Config = {
    ...testConfig,
    modelsDir: writeTinyModels(temporaryFolder(test), 'high'),
    dataDir: temporaryFolder(test),
    usageDays: 365,
    ...overrides,
  };
  const log = pino({ level: 'silent' });
  const database = new SqliteDatabase(path.join(config.dataDir, 'veravox.db'), { pollMs: 20 });
  await migrate(database, migrations);
  const keyTable = new KeyTable(database);
  const keys = await KeyCache.open(keyTable, { onReloadError: () => {} });
  const metrics = new ServiceMetrics();
  const records = openServerRecords(config, log, metrics, database, true, new Closers(log));
  const arena = new UploadArena(config.maxInflightBytes);
  const admin = { ...records, database, noteFirst: async () => {}, passwords: cheapPasswords() };
  const console = consoleOf(admin, log, undefined);
  const analyser = around(await startPipeline(config, arena.buffer));
  const { server, origin } = await startServerWith(test, analyser, arena, config, {
    ...parts,
    keys,
    metrics,
    recorders: records.recorders,
    jobs: jobPartsOf(config, database, undefined, 0),
    console,
  });
  test.after(async () => {
    await server.stop();
    await console.health.close();
    keys.close();
    await database.close();
  });
  const users = new UserTable(database);
  return {
    origin,
    database,
    async signIn(page, role, view = '', name = role) {
      if ((await users.named(name)) === undefined) await addUser(database, role, name);
      const data = { name, password: PASSWORD };
      const answer = await page.request.post(`${origin}/v1/admin/session`, { data, maxRetries: 3 });
      if (!answer.ok()) throw new Error(`The sign-in was answered with ${answer.status()}.`);
      // An open page would only follow the part after #.
      await page.goto('about:blank');
      await page.goto(`${origin}/dashboard/#/${view}`);
      await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
    },
    async client(keyName, scopes = ['predict', 'voiceid', 'file']) {
      const { key, text } = await keyTable.create({ name: keyName, account: 'acme', scopes });
      await until(() => keys.find(key.id) !== undefined);
      return new VeravoxClient({ baseUrl: origin, apiKey: text });
    },
  };
}
