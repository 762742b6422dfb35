// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { ServiceError } from '../../../src/base/errors/service-error.js';
import { temporaryFolder } from '../../support/cli.js';
import { startFakeStorage } from '../../support/fake-storage.js';
import { answer, TestFetcher, type TestFetcherOptions } from '../../support/test-fetcher.js';

interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** For `storage.example.com`, signed by itself. */
function makeCertificate(context: TestContext): Certificate {
  const folder = temporaryFolder(context);
  const [keyFile, certFile] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')];
  const name = ['-subj', '/CN=storage.example.com', '-addext', 'subjectAltName=DNS:storage.example.com'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const files = ['-keyout', keyFile, '-out', certFile];
  execFileSync('openssl', ['req', '-x509', ...kind, ...name, ...files], { stdio: 'ignore' });
  return { key: fs.readFileSync(keyFile, 'utf8'), cert: fs.readFileSync(certFile, 'utf8') };
}

async function startSecureStorage(context: TestContext, certificate: Certificate) {
  const requests: string[] = [];
  const server = https.createServer(certificate, (request, response) => {
    requests.push(String(request.headers.host));
    response.end('the file');
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, requests };
}

function fetcherFor(host: string, ca?: string, options: TestFetcherOptions = {}): TestFetcher {
  const surroundings = {
    resolve: async () => answer('127.0.0.1'),
    isPublicAddress: () => true,
    ...(ca !== undefined && { ca }),
  };
  return new TestFetcher({ allowedHosts: [host], surroundings, ...options });
}

async function failureOf(fetching: Promise<unknown>): Promise<ServiceError> {
  const error: unknown = await fetching.then(
    () => undefined,
    (reason) => reason,
  );
  assert.ok(error instanceof ServiceError);
  return error;
}

test('an allowed host is asked over https, with its name in the certificate', async (t) => {
  const certificate = makeCertificate(t);
  const { port, requests } = await startSecureStorage(t, certificate);
  const host = `storage.example.com:${port}`;
  const fetcher = fetcherFor(host, certificate.cert);
  assert.equal((await fetcher.bytesOf(`https://${host}/file`)).toString(), 'the file');
  assert.deepEqual(requests, [host]);
});

test('a certificate that is not trusted, or for another name, ends the fetch before anything is asked', async (t) => {
  const certificate = makeCertificate(t);
  const { port, requests } = await startSecureStorage(t, certificate);
  for (const [host, ca] of [
    [`storage.example.com:${port}`, undefined],
    [`other.example.com:${port}`, certificate.cert],
  ] as const) {
    const failure = await failureOf(
      fetcherFor(host, ca).fetch(`https://${host}/file?X-Amz-Signature=secret`),
    );
    assert.equal(failure.key, 'FETCH_INSECURE');
    assert.equal(failure.status, 500);
    assert.equal(
      failure.message,
      'A secure connection to the storage behind presigned_url could not be established.',
    );
    const cause = failure.cause as Error;
    assert.ok(cause.message !== '' && !cause.message.includes('secret'));
    assert.deepEqual(Object.keys(cause), [], 'a log would show the whole certificate');
  }
  assert.deepEqual(requests, []);
});

test('a storage that does not speak TLS is a failure of the same kind, a silent one a time-out', async (t) => {
  const plain = await startFakeStorage(t, (_, response) => response.end('the file'));
  const host = `storage.example.com:${plain.port}`;
  assert.equal((await failureOf(fetcherFor(host).fetch(`https://${host}/file`))).key, 'FETCH_INSECURE');
  assert.equal(plain.requests.length, 0);

  const silent = net.createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.after(() => silent.close());
  const silentHost = `storage.example.com:${(silent.address() as AddressInfo).port}`;
  const fetcher = fetcherFor(silentHost, undefined, { timeouts: { stallTimeoutMs: 200 } });
  assert.equal((await failureOf(fetcher.fetch(`https://${silentHost}/file`))).key, 'FETCH_TIMEOUT');
});
