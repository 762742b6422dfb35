// SPDX-License-Identifier: Apache-2.0
//
// Modules that a server with default settings and its threads load until it is ready: each module costs about a third of
// a millisecond, and large packages 20 to 60.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { Cli, temporaryFolder } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { packagesOf } from '../support/static-imports.js';
import { writeTinyModels } from '../support/tiny-models.js';

const preload = new URL('../support/module-log.js', import.meta.url).href;

/**
 * Packages for other databases, buckets, collectors and sign-ins, and modules that a first link or batch may wait
 * for.
 */
const unwanted = [
  ...['pg', '@aws-sdk', '@smithy', '@opentelemetry/sdk-trace', '@opentelemetry/exporter-trace-otlp-http'],
  ...['openid-client', 'csv-parse', 'playwright-core', 'esbuild'],
];

/** A room that only few requests need is better loaded by the first of them than by a higher limit. */
const MAX_MODULES = 790;

interface Loaded {
  /** URLs of the main thread's modules. */
  readonly modules: readonly string[];
  readonly followsPromises: boolean;
}

async function loadedAtStart(context: TestContext, settings: NodeJS.ProcessEnv = {}): Promise<Loaded> {
  const folder = temporaryFolder(context);
  const log = path.join(folder, 'modules');
  const cli = new Cli(['serve'], {
    PORT: '0',
    VERAVOX_DATA_DIR: path.join(folder, 'data'),
    VERAVOX_MODELS_DIR: writeTinyModels(folder, 'even'),
    NODE_OPTIONS: `--import=${preload}`,
    MODULE_LOG: log,
    ...settings,
  });
  context.after(() => cli.child.kill('SIGKILL'));
  await cli.printed(/veravox is ready/);
  cli.child.kill('SIGUSR2');
  const end = /^follows promises: (true|false)$/m;
  await eventually(() => end.test(fs.readFileSync(log, 'utf8')), 'the list of modules');
  const lines = fs.readFileSync(log, 'utf8').split('\n');
  return {
    modules: [...new Set(lines.filter((line) => line.startsWith('file://')))],
    followsPromises: lines.includes('follows promises: true'),
  };
}

test('a start on the embedded default loads few modules, and none of what it does not use', async (context) => {
  const { modules, followsPromises } = await loadedAtStart(context);
  // So that an empty list fails.
  assert.ok(modules.some((url) => url.endsWith('/src/service/server.js')));
  assert.ok(modules.some((url) => url.includes('/node_modules/ajv/')));
  for (const name of unwanted) {
    const found = modules.filter((url) => url.includes(`/node_modules/${name}/`));
    assert.deepEqual(found, [], name);
  }
  assert.ok(modules.length <= MAX_MODULES, `${modules.length} modules`);
  // It would cost each request a tenth of the main thread's time.
  assert.equal(followsPromises, false);
});

test('with the dashboard off, no module of the console is loaded', async (context) => {
  const ofConsole = ({ modules }: Loaded) => modules.filter((url) => /\/src\/console\//.test(url));
  assert.ok(ofConsole(await loadedAtStart(context)).length > 10);
  assert.deepEqual(ofConsole(await loadedAtStart(context, { VERAVOX_DASHBOARD: 'off' })), []);
});

test('its threads load the packages of their own work only', () => {
  const program = (name: string): string => path.join(import.meta.dirname, '../../src', name);
  assert.deepEqual(packagesOf(program('analysis/scoring/scoring-worker.js')), [
    'onnxruntime-node',
    'piscina',
  ]);
  assert.deepEqual(packagesOf(program('analysis/prepare/prepare-worker.js')), ['piscina']);
  assert.deepEqual(packagesOf(program('state/database/sqlite-thread.js')), ['libsql']);
});
