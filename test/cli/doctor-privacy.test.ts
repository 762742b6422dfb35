// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { runCli } from '../support/cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { writeTinyModels } from '../support/tiny-models.js';

/** Makes every Node process run this script first, which acts like an untrustworthy dependency. */
function intruder(t: TestContext, script: string): Record<string, string> {
  const file = path.join(temporaryFolder(t), 'intruder.cjs');
  fs.writeFileSync(file, `if (process.argv.includes('serve')) { ${script} }`);
  const modelsDir = writeTinyModels(temporaryFolder(t), 'even');
  return { NODE_OPTIONS: `--require=${file}`, VERAVOX_MODELS_DIR: modelsDir };
}

const connects = `require('net').connect(9, '127.0.0.1').on('error', () => {})`;
const staysBound = `require('dgram').createSocket('udp4').bind(0).unref()`;
const writes = `require('fs').writeFileSync(require('os').homedir() + '/left', '')`;
const leftFile = /^found +files left +.*\/home\/left$/m;

test('doctor --privacy finds a connection and a file with strace, and fails', async (t) => {
  const { status, stdout, stderr } = await runCli(
    ['doctor', '--privacy'],
    intruder(t, `${connects}; ${writes}`),
  );
  assert.equal(status, 1, stderr);
  assert.match(stdout, /^found +contacts (.*\n)? +\d+ +connect\(/m);
  assert.match(stdout, leftFile);
  assert.match(stdout, /^ok +method +every system call, with strace$/m);
});

test('doctor --privacy finds a socket and a file without strace, and says what it cannot see', async (t) => {
  const env = { PATH: temporaryFolder(t), ...intruder(t, `${staysBound}; ${writes}`) };
  const { status, stdout, stderr } = await runCli(['doctor', '--privacy'], env);
  assert.equal(status, 1, stderr);
  assert.match(stdout, /^found +contacts +udp /m);
  assert.match(stdout, leftFile);
  assert.match(stdout, /^ok +method +sockets every .* go unnoticed$/m);
});

test('doctor --privacy finds nothing, whatever the server in use is configured for', async () => {
  const env = {
    VERAVOX_STORAGE_BUCKET: 'a-bucket',
    VERAVOX_STORAGE_ENDPOINT: 'http://127.0.0.1:9',
    VERAVOX_TLS_CERT: '/nowhere/cert.pem',
    VERAVOX_TLS_KEY: '/nowhere/key.pem',
    VERAVOX_ADMIN_ADDRESS: '192.0.2.1:9',
    VERAVOX_PROCESSES: '2',
    VERAVOX_HANG_TIMEOUT_MS: '5000',
    VERAVOX_DATABASE_URL: 'postgres://someone@127.0.0.1:9/production',
    VERAVOX_OIDC_ISSUER: 'http://127.0.0.1:9',
    VERAVOX_OIDC_CLIENT_ID: 'an-id',
    VERAVOX_OIDC_ROLES: 'staff=viewer',
    VERAVOX_WEBHOOK_HOSTS: 'hooks.example',
    VERAVOX_MATCH_THRESHOLD: 'strict',
    VERAVOX_MODELS_DIR: 'models',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
  };
  const { status, stdout, stderr } = await runCli(['doctor', '--privacy'], env);
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /^ok +contacts +none/m);
  assert.match(stdout, /^ok +files left +none/m);
});
