// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import https from 'node:https';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type tls from 'node:tls';
import { promisify } from 'node:util';
import { checkTlsFiles } from '../../../src/api/http/tls-files.js';
import { makeCertificate } from '../../support/certificates.js';
import { Cli, temporaryFolder } from '../../support/cli.js';
import { eventually } from '../../support/eventually.js';
import { postFile } from '../../support/file-links.js';
import { RawClient } from '../../support/http-client.js';
import { API_KEY, startTestServer } from '../../support/test-server.js';
import { writeTinyModels } from '../../support/tiny-models.js';

const run = promisify(execFile);

interface SecureAnswer {
  readonly status: number | undefined;
  readonly shown: string;
  readonly text: string;
}

/** Does not check the certificate; returns its name instead. */
function ask(port: number, requestPath: string, agent: https.Agent | false = false): Promise<SecureAnswer> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: requestPath, agent, rejectUnauthorized: false };
    const outgoing = https.get(options, (incoming) => {
      const socket = incoming.socket as tls.TLSSocket;
      const shown = String(socket.getPeerCertificate().subject?.CN ?? '');
      let text = '';
      incoming.on('data', (chunk) => {
        text += chunk;
      });
      incoming.on('end', () => resolve({ status: incoming.statusCode, shown, text }));
      incoming.on('error', reject);
    });
    outgoing.on('error', reject);
  });
}

async function startSecure(t: TestContext) {
  const folder = temporaryFolder(t);
  const { certFile, keyFile } = makeCertificate(folder, 'first');
  const files = { certFile: path.join(folder, 'cert.pem'), keyFile: path.join(folder, 'key.pem') };
  const use = (name: { certFile: string; keyFile: string }): void => {
    fs.copyFileSync(name.certFile, files.certFile);
    fs.copyFileSync(name.keyFile, files.keyFile);
  };
  use({ certFile, keyFile });
  const served = await startTestServer(t, { tlsCertFile: files.certFile, tlsKeyFile: files.keyFile });
  return { ...served, folder, files, use };
}

test('HTTPS with the configured certificate, for curl and openssl alike', async (t) => {
  const { port, files } = await startSecure(t);
  const { stdout } = await run('curl', [
    '-sS',
    '--cacert',
    files.certFile,
    `https://127.0.0.1:${port}/livez`,
  ]);
  assert.equal(stdout, '{"alive":true}');
  const client = run('openssl', ['s_client', '-connect', `127.0.0.1:${port}`, '-CAfile', files.certFile]);
  client.child.stdin?.end('GET /livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  const { stdout: session } = await client;
  assert.match(session, /Verify return code: 0 \(ok\)/);
  assert.match(session, /TLSv1\.3/);
});

test('links point to where they can be followed, and large answers come whole over TLS', async (t) => {
  const { port, files } = await startSecure(t);
  const asset = await ask(port, '/docs/swagger-ui-bundle.js');
  assert.ok(asset.text.length > 1_000_000);
  const body = JSON.stringify({ keys: ['call.wav'], entity: 'analysis' });
  const { stdout } = await run('curl', [
    ...['-sS', '--cacert', files.certFile, '-H', `x-api-key: ${API_KEY}`],
    ...['-H', 'content-type: application/json', '-d', body, `https://localhost:${port}/v1/file`],
  ]);
  const link = String(JSON.parse(stdout).url[0].value);
  assert.ok(link.startsWith(`https://localhost:${port}/`), link);
  const put = await run('curl', [
    '-sS',
    '--cacert',
    files.certFile,
    '-T',
    files.certFile,
    '-w',
    '%{http_code}',
    link,
  ]);
  assert.equal(put.stdout, '200');
});

test('HTTP on the port for HTTPS is no way in, and harms nobody', async (t) => {
  const { port } = await startSecure(t);
  const client = await RawClient.connect(port);
  await client.write('GET /livez HTTP/1.1\r\nhost: a\r\n\r\n');
  await client.closed;
  assert.doesNotMatch(client.received, /HTTP\/1\.1 200/);
  await assert.rejects(postFile({ port }, { keys: ['a'], entity: 'analysis' }));
  assert.equal((await ask(port, '/livez')).status, 200);
});

test('a new certificate is shown to new connections; those that exist go on, and nobody is refused meanwhile', async (t) => {
  const { server, port, folder, use } = await startSecure(t);
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  assert.equal((await ask(port, '/livez', agent)).shown, 'first');

  let isDone = false;
  let asked = 0;
  const busy = Array.from({ length: 4 }, async () => {
    while (!isDone) {
      assert.equal((await ask(port, '/livez')).status, 200);
      asked++;
    }
  });
  for (const name of ['second', 'third', 'fourth']) {
    const before = asked;
    use(makeCertificate(folder, name));
    server.renewTls();
    assert.equal((await ask(port, '/livez')).shown, name);
    await eventually(() => asked > before + 8, 'Others are served');
  }
  isDone = true;
  await Promise.all(busy);
  assert.equal((await ask(port, '/livez', agent)).shown, 'first');
  assert.equal((await ask(port, '/livez')).shown, 'fourth');
});

test('files that cannot be used change nothing at a reload, and each has its reason', async (t) => {
  const { server, port, folder, files, use } = await startSecure(t);
  const other = makeCertificate(folder, 'other');
  const bad: [string, () => void, RegExp][] = [
    [
      'a key of another certificate',
      () => fs.copyFileSync(other.keyFile, files.keyFile),
      /does not belong to/,
    ],
    ['no key', () => fs.writeFileSync(files.keyFile, 'x'), /There is no PEM private key/],
    ['no certificate', () => fs.writeFileSync(files.certFile, 'x'), /There is no PEM certificate/],
    ['no file', () => fs.rmSync(files.certFile), /The certificate cannot be read: ENOENT.*cert\.pem/],
  ];
  for (const [name, spoil, why] of bad) {
    spoil();
    assert.throws(() => server.renewTls(), why, name);
    assert.equal((await ask(port, '/livez')).shown, 'first', name);
  }
  use(other);
  server.renewTls();
  assert.equal((await ask(port, '/livez')).shown, 'other');
});

test('a certificate that is over, or not yet valid, is refused', async (t) => {
  const files = makeCertificate(temporaryFolder(t), 'short', 1);
  const dayMs = 86_400_000;
  checkTlsFiles(files);
  assert.throws(
    () => checkTlsFiles(files, new Date(Date.now() + 2 * dayMs)),
    /has expired: it was valid until/,
  );
  assert.throws(() => checkTlsFiles(files, new Date(Date.now() - dayMs)), /is not valid until/);
});

test('the port for HTTPS belongs to one server, too', async (t) => {
  const { port, files } = await startSecure(t);
  const config = { port, tlsCertFile: files.certFile, tlsKeyFile: files.keyFile };
  await assert.rejects(startTestServer(t, config), /another program listens there/);
  await assert.rejects(startTestServer(t, { ...config, tlsKeyFile: '' }), /VERAVOX_TLS_KEY is not/);
  await assert.rejects(startTestServer(t, { ...config, tlsCertFile: '' }), /VERAVOX_TLS_CERT is not/);
});

test('SIGHUP exchanges the certificate of a server that runs, and says so when it cannot', async (t) => {
  const folder = temporaryFolder(t);
  const first = makeCertificate(folder, 'first');
  const second = makeCertificate(folder, 'second');
  const cli = new Cli(['serve'], {
    VERAVOX_DATA_DIR: temporaryFolder(t),
    PORT: '0',
    VERAVOX_TLS_CERT: first.certFile,
    VERAVOX_TLS_KEY: first.keyFile,
  });
  t.after(() => cli.child.kill('SIGKILL'));
  const [, digits] = await cli.printed(/veravox is ready on https:\/\/127\.0\.0\.1:(\d+)/);
  const port = Number(digits);
  assert.equal((await ask(port, '/readyz')).shown, 'first');
  fs.copyFileSync(second.keyFile, first.keyFile);
  cli.child.kill('SIGHUP');
  await cli.printed(/the certificate was not reloaded/);
  assert.equal((await ask(port, '/readyz')).shown, 'first');
  fs.copyFileSync(second.certFile, first.certFile);
  cli.child.kill('SIGHUP');
  await eventually(async () => (await ask(port, '/readyz')).shown === 'second', 'The new one is shown');
  cli.child.kill('SIGTERM');
  assert.equal((await cli.finished).status, 0);
});

test('SIGHUP exchanges the certificate of every process, also while the models cannot be loaded', async (t) => {
  const folder = temporaryFolder(t);
  const first = makeCertificate(folder, 'first');
  const second = makeCertificate(folder, 'second');
  const modelsDir = writeTinyModels(temporaryFolder(t), 'even');
  const cli = new Cli(['serve'], {
    VERAVOX_DATA_DIR: temporaryFolder(t),
    VERAVOX_MODELS_DIR: modelsDir,
    VERAVOX_PROCESSES: '2',
    PORT: '0',
    VERAVOX_TLS_CERT: first.certFile,
    VERAVOX_TLS_KEY: first.keyFile,
  });
  t.after(() => cli.child.kill('SIGKILL'));
  const [, digits] = await cli.printed(/veravox is ready on https:\/\/127\.0\.0\.1:(\d+)/);
  fs.writeFileSync(path.join(modelsDir, 'manifest.json'), '{');
  fs.copyFileSync(second.keyFile, first.keyFile);
  fs.copyFileSync(second.certFile, first.certFile);
  cli.child.kill('SIGHUP');
  await cli.printed(/the other processes also keep their models/);
  await eventually(async () => {
    const asked = Array.from({ length: 12 }, () => ask(Number(digits), '/livez'));
    return (await Promise.all(asked)).every(({ shown }) => shown === 'second');
  }, 'every process shows the new one');
  cli.child.kill('SIGTERM');
  assert.equal((await cli.finished).status, 0);
});
