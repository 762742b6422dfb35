// SPDX-License-Identifier: Apache-2.0
//
// A server in a separate process, which stops on SIGTERM. Its port is on the first line of standard output.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { UploadArena } from '../../src/analysis/memory/arena.js';
import { shown } from '../../src/base/errors/shown-text.js';
import { createLog } from '../../src/base/observe/log.js';
import { startServer } from '../../src/service/server.js';
import type { AuthenticatedKey } from '../../src/state/keys/authenticator.js';
import { AnalyserDouble } from './analyser-double.js';
import { serverParts } from './server-parts.js';
import { testConfig } from './test-server.js';

const arena = new UploadArena(testConfig.maxInflightBytes);
const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-'));
process.once('exit', () => fs.rmSync(dataDir, { recursive: true, force: true }));
const log = createLog({ logLevel: 'info', logFormat: 'json', processes: 0 });
const any: AuthenticatedKey = { account: 'one', id: 'any', scopes: new Set(['predict', 'file']) };
const parts = await serverParts(
  { ...testConfig, dataDir },
  { keys: { authenticate: () => any, find: () => any, lookUp: () => undefined }, log: log.logger },
);
const server = await startServer({ ...parts, analyser: new AnalyserDouble(arena), arena });
log.print(shown``);
process.once('SIGTERM', () => void server.stop().then(log.close));
