// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, loadConfig } from '../../src/base/config/load-config.js';
import { unknownVariables } from '../../src/base/config/unknown-variables.js';

function assertRefused(env: Record<string, string>, message: RegExp): void {
  assert.throws(
    () => loadConfig(env),
    (error) => error instanceof ConfigError && message.test(error.message),
  );
}

test('sizes and times may have a unit', () => {
  const config = loadConfig({
    VERAVOX_MAX_INFLIGHT_BYTES: '256MB',
    VERAVOX_MAX_PREDICT_BYTES: '1.5 MiB',
    VERAVOX_MAX_OBJECT_BYTES: '2TiB',
    VERAVOX_RECEIVE_TIMEOUT_MS: '10s',
    VERAVOX_LARGE_FILE_RECEIVE_TIMEOUT_MS: '1.5h',
    VERAVOX_BATCH_WAIT_MS: '5ms',
    VERAVOX_MAX_PREDICT_DURATION_S: '15m',
    VERAVOX_STORAGE_LINK_LIFETIME_S: '7d',
    VERAVOX_AUDIT_DAYS: '90d',
  });
  assert.equal(config.maxInflightBytes, 256_000_000);
  assert.equal(config.maxPredictBytes, 1.5 * 2 ** 20);
  assert.equal(config.maxObjectBytes, 2 * 2 ** 40);
  assert.equal(config.receiveTimeoutMs, 10_000);
  assert.equal(config.largeFileReceiveTimeoutMs, 5_400_000);
  assert.equal(config.batchWaitMs, 5);
  assert.equal(config.maxPredictDurationS, 900);
  assert.equal(config.storageLinkLifetimeS, 604_800);
  assert.equal(config.auditDays, 90);
});

test('the address of a collector is a plain one, and its headers are never shown', () => {
  for (const url of [
    'collector',
    'collector:4318',
    'ftp://collector',
    'http:/collector',
    'http://user:password@collector',
    'https://collector/?key=x',
    'https://collector/#x',
    'http://',
  ]) {
    assertRefused(
      { VERAVOX_OTLP_ENDPOINT: url },
      /^Expected an http or https URL without user, query and fragment/,
    );
  }
  for (const [url, otlpEndpoint] of [
    ['http://collector:4318', 'http://collector:4318/v1/traces'],
    ['https://collector.example/otlp/', 'https://collector.example/otlp/v1/traces'],
    ['https://collector.example/v1/traces', 'https://collector.example/v1/traces'],
  ] as const) {
    assert.equal(loadConfig({ VERAVOX_OTLP_ENDPOINT: url }).otlpEndpoint, otlpEndpoint);
  }
  const VERAVOX_OTLP_ENDPOINT = 'http://collector';
  for (const headers of ['secret', '=secret', 'a b=secret', 'a=secret%0d%0ab', 'a=secret%']) {
    assertRefused(
      { VERAVOX_OTLP_ENDPOINT, VERAVOX_OTLP_HEADERS: headers },
      /^Expected `name=value` pairs((?!secret).)*$/,
    );
  }
  const config = loadConfig({
    VERAVOX_OTLP_ENDPOINT,
    VERAVOX_OTLP_HEADERS: 'Authorization=Basic%20a%2Cb=, x-a=1',
  });
  assert.deepEqual(config.otlpHeaders?.(), { authorization: 'Basic a,b=', 'x-a': '1' });
  assert.ok(!JSON.stringify(config).includes('Basic'));
  for (const ratio of ['1.1', '-1', 'all', '1e-3']) {
    assertRefused({ VERAVOX_OTLP_ENDPOINT, VERAVOX_TRACE_RATIO: ratio }, /a number from 0 to 1/);
  }
  assertRefused({ VERAVOX_TRACE_RATIO: '0.5' }, /^VERAVOX_TRACE_RATIO needs VERAVOX_OTLP_ENDPOINT/);
});

test('settings that do nothing without another one are refused', () => {
  assertRefused(
    { VERAVOX_STORAGE_ENDPOINT: 'http://minio:9000' },
    /^VERAVOX_STORAGE_ENDPOINT needs VERAVOX_STORAGE_BUCKET: without a bucket, files are stored in the data folder\.$/,
  );
  assertRefused(
    { VERAVOX_STORAGE_REGION: 'eu-west-1' },
    /^VERAVOX_STORAGE_REGION needs VERAVOX_STORAGE_BUCKET/,
  );
  assertRefused({ VERAVOX_STORAGE_PATH_STYLE: 'yes' }, /^VERAVOX_STORAGE_PATH_STYLE needs/);
  assertRefused(
    { VERAVOX_RATE_LIMIT_WINDOW_S: '10' },
    /^VERAVOX_RATE_LIMIT_WINDOW_S needs VERAVOX_RATE_LIMIT_REQUESTS/,
  );
  const endpoint = 'http://minio:9000';
  const config = loadConfig({ VERAVOX_STORAGE_ENDPOINT: endpoint, VERAVOX_STORAGE_BUCKET: 'files' });
  assert.equal(config.storageEndpoint, endpoint);
});

test('all that is wrong is reported together', () => {
  const env = {
    PORT: 'http',
    VERAVOX_DEVISE: 'cpu',
    VERAVOX_STORAGE_REGION: 'eu-west-1',
    VERAVOX_MODELS_DIR: '/nope',
    VERAVOX_MAX_INFLIGHT_BYTES: '1MiB',
  };
  const tooSmall = (size: string): string =>
    `  - Expected at least VERAVOX_MAX_${size} for VERAVOX_MAX_INFLIGHT_BYTES but received 1048576: ` +
    'otherwise, files of the largest size would never be admitted.';
  assert.throws(
    () => loadConfig(env),
    (error) => {
      assert.ok(error instanceof ConfigError);
      assert.deepEqual(error.message.split('\n'), [
        '7 problems with the settings:',
        '  - There is no setting VERAVOX_DEVISE. Did you mean VERAVOX_DEVICE?',
        '  - Expected an integer from 0 to 65535 for PORT but received http.',
        '  - Expected a folder that exists for VERAVOX_MODELS_DIR but received /nope.',
        '  - VERAVOX_STORAGE_REGION needs VERAVOX_STORAGE_BUCKET: without a bucket, files are stored in the data folder.',
        tooSmall('PREDICT_BYTES (5242880)'),
        tooSmall('LARGE_FILE_BYTES (104857600)'),
        tooSmall('VOICEID_BYTES (26214400)'),
      ]);
      return true;
    },
  );
});

const misspelt: readonly [variable: string, meant: string][] = [
  ['VERAVOX_RECIEVE_TIMEOUT_MS', 'VERAVOX_RECEIVE_TIMEOUT_MS'],
  ['VERAVOX_KEY_CONCURENCY', 'VERAVOX_KEY_CONCURRENCY'],
  ['veravox_device', 'VERAVOX_DEVICE'],
  ['VERAVOX_PORT', 'PORT'],
  ['VERAVOX_HOSTS', 'HOST'],
];
for (const [variable, meant] of misspelt) {
  test(`${variable} is taken for a misspelt ${meant} and refused`, () => {
    assertRefused(
      { [variable]: '1' },
      new RegExp(`There is no setting ${variable}\\. Did you mean ${meant}\\?`),
    );
  });
}

test('other unknown variables are named and keep nothing from starting', () => {
  const env = { VERAVOX_OF_A_LATER_VERSION: '1', PATH: '/bin', PORTS: '1', VERAVOX_DEVICE: 'cpu' };
  assert.deepEqual(unknownVariables(env), [{ variable: 'VERAVOX_OF_A_LATER_VERSION' }]);
  assert.equal(loadConfig(env).device, 'cpu');
});

test('what Kubernetes sets for a service called veravox is no setting', () => {
  const env = {
    VERAVOX_PORT: 'tcp://10.0.0.1:8080',
    VERAVOX_PORT_8080_TCP_ADDR: '10.0.0.1',
    VERAVOX_SERVICE_HOST: '10.0.0.1',
    VERAVOX_SERVICE_PORT: '8080',
  };
  assert.deepEqual(unknownVariables(env), []);
  assert.equal(loadConfig(env).port, 8080);
});

test('TLS wants both of its files, and an admin address that is one of its own', () => {
  assertRefused({ VERAVOX_TLS_CERT: 'cert.pem' }, /^VERAVOX_TLS_CERT needs VERAVOX_TLS_KEY: /);
  assertRefused({ VERAVOX_TLS_KEY: 'key.pem' }, /^VERAVOX_TLS_KEY needs VERAVOX_TLS_CERT: /);
  assertRefused(
    { VERAVOX_PROCESSES: '2', VERAVOX_ADMIN_ADDRESS: '127.0.0.1:0' },
    /^VERAVOX_ADMIN_ADDRESS needs a port other than 0 with VERAVOX_PROCESSES, because all processes share it\.$/,
  );
  assertRefused(
    { HOST: '127.0.0.1', PORT: '8080', VERAVOX_ADMIN_ADDRESS: '127.0.0.1:8080' },
    /^VERAVOX_ADMIN_ADDRESS must differ from the public address/,
  );
  assert.equal(loadConfig({ PORT: '0', VERAVOX_ADMIN_ADDRESS: '127.0.0.1:0' }).adminAddress?.port, 0);
});
