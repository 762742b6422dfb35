// SPDX-License-Identifier: Apache-2.0
//
// A server in a separate process, which stops on SIGTERM. Its port is on the first line of standard output.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { shown } from '../../src/base/errors/shown-text.js';
import { createLog } from '../../src/base/observe/log.js';
import { ServiceMetrics } from '../../src/base/observe/service-metrics.js';
import { startServer } from '../../src/service/server.js';
import { openStorage } from '../../src/state/storage/open-storage.js';
import { AnalyserDouble } from './analyser-double.js';
import { testConfig } from './test-server.js';

const arena = new UploadArena(testConfig.maxInflightBytes);
const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-'));
process.once('exit', () => fs.rmSync(dataDir, { recursive: true, force: true }));
const log = createLog({ logLevel: 'info', logFormat: 'json', processes: 0 });
const server = await startServer({
  config: testConfig,
  analyser: new AnalyserDouble(arena),
  arena,
  keys: { authenticate: () => ({ account: 'one', id: 'any', scopes: new Set(['predict', 'file']) }) },
  files: await openStorage({ ...testConfig, dataDir }),
  log: log.logger,
  metrics: new ServiceMetrics(),
});
log.print(shown``);
process.once('SIGTERM', () => void server.stop().then(log.close));
