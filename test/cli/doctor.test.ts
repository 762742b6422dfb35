// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { makeCertificate } from '../support/certificates.js';
import { runCli, temporaryFolder } from '../support/cli.js';

test('doctor names what is missing and ends with 1', async (context) => {
  const folder = temporaryFolder(context);
  const { status, stdout } = await runCli(['doctor'], {
    VERAVOX_DATA_DIR: folder,
    VERAVOX_MODELS_DIR: folder,
  });
  assert.equal(status, 1);
  assert.match(stdout, /^missing +models .*manifest\.json/m);
});

test('doctor names versions, models and the device, and ends with 0 when all is there', async (context) => {
  const { status, stdout } = await runCli(['doctor'], { VERAVOX_DATA_DIR: temporaryFolder(context) });
  assert.equal(status, 0, stdout);
  assert.match(stdout, /^ok +addon .*libavcodec \d+\.\d+\.\d+/m);
  assert.match(stdout, /^ok +onnxruntime +1\.30\.\d+$/m);
  assert.match(stdout, /^ok +device +cpu$/m);
  assert.match(stdout, /^ok +GPUs +(none found|0: .+)$/m);
  assert.doesNotMatch(stdout, /^(missing|failed)/m);
});

test('doctor says why a bucket cannot be used', async (context) => {
  const { status, stdout } = await runCli(['doctor'], {
    VERAVOX_DATA_DIR: temporaryFolder(context),
    VERAVOX_MODELS_DIR: temporaryFolder(context),
    VERAVOX_STORAGE_BUCKET: 'files',
    VERAVOX_STORAGE_ENDPOINT: 'http://127.0.0.1:1',
    AWS_ACCESS_KEY_ID: 'an-id',
    AWS_SECRET_ACCESS_KEY: 'a-secret',
  });
  assert.equal(status, 1);
  assert.match(
    stdout,
    /^failed +file storage +bucket files on http:\/\/127\.0\.0\.1:1 cannot be listed: .*ECONNREFUSED/m,
  );
});

test('doctor says which database there is, and why it cannot be used', async (context) => {
  const folder = temporaryFolder(context);
  const env = { VERAVOX_DATA_DIR: folder, VERAVOX_MODELS_DIR: folder };
  const finding = async (more: Record<string, string> = {}): Promise<string | undefined> => {
    const { stdout } = await runCli(['doctor'], { ...env, ...more });
    return /^.* {2}database +.*$/m.exec(stdout)?.[0];
  };
  assert.match((await finding()) ?? '', /^ok .* SQLite: .*veravox\.db \(will be created/);
  fs.writeFileSync(path.join(folder, 'veravox.db'), 'x'.repeat(8192));
  assert.match((await finding()) ?? '', /^failed .*veravox\.db: file is not a database/);
  const nobody = { VERAVOX_DATABASE_URL: 'postgres://someone:geheim@127.0.0.1:1/database' };
  const unreachable = (await finding(nobody)) ?? '';
  assert.match(unreachable, /^failed .*postgres:\/\/127\.0\.0\.1:1\/database: .*ECONNREFUSED/);
  assert.doesNotMatch(unreachable, /geheim/);
});

test('doctor says why a data folder cannot be made or used', async (context) => {
  const folder = temporaryFolder(context);
  const file = path.join(folder, 'file');
  fs.writeFileSync(file, '');
  const finding = async (dataDir: string): Promise<string> => {
    const { stdout } = await runCli(['doctor'], { VERAVOX_DATA_DIR: dataDir, VERAVOX_MODELS_DIR: folder });
    return /^.* {2}data folder +.*$/m.exec(stdout)?.[0] ?? '';
  };
  assert.match(await finding(file), /^failed .*file is not a folder\.$/);
  assert.match(await finding(path.join(file, 'a/b')), /^failed .*not a folder.*\.$/);
  assert.match(await finding(path.join(folder, 'a/b')), /^ok .*a\/b \(will be created at the first start\)$/);
});

test('doctor says which certificate and which secrets would stop a start', async (context) => {
  const folder = temporaryFolder(context);
  fs.writeFileSync(path.join(folder, 'storage.json'), '{}');
  const { certFile } = makeCertificate(folder, 'one');
  const { keyFile } = makeCertificate(folder, 'other');
  const { status, stdout } = await runCli(['doctor'], {
    VERAVOX_DATA_DIR: folder,
    VERAVOX_MODELS_DIR: folder,
    VERAVOX_TLS_CERT: certFile,
    VERAVOX_TLS_KEY: keyFile,
  });
  assert.equal(status, 1);
  assert.match(stdout, /^failed +certificate +The key in \S+ does not belong to the certificate/m);
  assert.match(stdout, /^failed +file storage +The storage secrets in \S+ are damaged/m);
});

test('doctor calls what is there and wrong failed, and goes on', async (context) => {
  const modelsDir = temporaryFolder(context);
  fs.cpSync('models', modelsDir, { recursive: true });
  const manifestFile = path.join(modelsDir, 'manifest.json');
  const manifest = JSON.parse(fs.readFileSync(manifestFile, 'utf8'));
  const { scores } = manifest.models[0].known_answers[0];
  scores[0] += scores[0] > 0.5 ? -0.2 : 0.2;
  fs.writeFileSync(manifestFile, JSON.stringify(manifest));
  const { status, stdout } = await runCli(['doctor'], {
    VERAVOX_DATA_DIR: temporaryFolder(context),
    VERAVOX_MODELS_DIR: modelsDir,
  });
  assert.equal(status, 1);
  assert.match(stdout, /^failed +known answers +.* moved by 0\.2/m);
  assert.match(stdout, /^ok +API keys/m);
});

test('doctor names all settings that cannot be used', async () => {
  const { status, stdout } = await runCli(['doctor'], { PORT: 'http', VERAVOX_DEVISE: 'cpu' });
  assert.equal(status, 1);
  assert.match(
    stdout,
    /^failed +settings +2 problems[\s\S]*Did you mean VERAVOX_DEVICE[\s\S]*for PORT but received http/m,
  );
});
