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
    VERAVOX_MAX_JOB_BYTES: '2TiB',
    VERAVOX_RECEIVE_TIMEOUT_MS: '10s',
    VERAVOX_ANALYSIS_TIMEOUT_MS: '0.5h',
    VERAVOX_QUEUE_TIMEOUT_MS: '5ms',
    VERAVOX_MAX_PREDICT_DURATION_S: '15m',
    VERAVOX_STORAGE_LINK_LIFETIME_S: '7d',
    VERAVOX_AUDIT_DAYS: '90d',
  });
  assert.equal(config.maxInflightBytes, 256_000_000);
  assert.equal(config.maxPredictBytes, 1.5 * 2 ** 20);
  assert.equal(config.maxJobBytes, 2 * 2 ** 40);
  assert.equal(config.receiveTimeoutMs, 10_000);
  assert.equal(config.analysisTimeoutMs, 1_800_000);
  assert.equal(config.queueTimeoutMs, 5);
  assert.equal(config.maxPredictDurationS, 900);
  assert.equal(config.storageLinkLifetimeS, 604_800);
  assert.equal(config.auditDays, 90);
});

test('what has no setting follows from those that there are', () => {
  const { keyMemoryPercent, addressSharePercent, ...config } = loadConfig({});
  assert.deepEqual([keyMemoryPercent, addressSharePercent], [80, 90]);
  assert.deepEqual([config.largeFileReceiveTimeoutMs, config.largeFileTimeoutMs], [600_000, 900_000]);
  assert.deepEqual([config.fetchStallTimeoutMs, config.maxEventStreams], [10_000, 1024]);
  assert.equal(config.maxObjectBytes, 5 * 2 ** 30);
  const given = loadConfig({
    VERAVOX_KEY_SHARE_PERCENT: '100',
    VERAVOX_RECEIVE_TIMEOUT_MS: '1s',
    VERAVOX_ANALYSIS_TIMEOUT_MS: '1',
    VERAVOX_FETCH_TIMEOUT_MS: '1',
    VERAVOX_MAX_JOB_BYTES: '1GiB',
  });
  assert.deepEqual([given.keyMemoryPercent, given.addressSharePercent], [100, 100]);
  assert.deepEqual([given.largeFileReceiveTimeoutMs, given.largeFileTimeoutMs], [10_000, 8]);
  assert.deepEqual([given.fetchStallTimeoutMs, given.maxObjectBytes], [1, 2 ** 30]);
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
      { OTEL_EXPORTER_OTLP_ENDPOINT: url },
      /^Expected an http or https URL without user, query and fragment/,
    );
  }
  for (const [url, otlpEndpoint] of [
    ['http://collector:4318', 'http://collector:4318/v1/traces'],
    ['https://collector.example/otlp/', 'https://collector.example/otlp/v1/traces'],
    ['https://collector.example/v1/traces', 'https://collector.example/v1/traces'],
  ] as const) {
    assert.equal(loadConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: url }).otlpEndpoint, otlpEndpoint);
  }
  const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector';
  for (const headers of ['secret', '=secret', 'a b=secret', 'a=secret%0d%0ab', 'a=secret%']) {
    assertRefused(
      { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: headers },
      /^Expected `name=value` pairs((?!secret).)*$/,
    );
  }
  const config = loadConfig({
    OTEL_EXPORTER_OTLP_ENDPOINT,
    OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20a%2Cb=, x-a=1',
  });
  assert.deepEqual(config.otlpHeaders?.(), { authorization: 'Basic a,b=', 'x-a': '1' });
  assert.ok(!JSON.stringify(config).includes('Basic'));
  for (const ratio of ['1.1', '-1', 'all', '1e-3']) {
    assertRefused({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER_ARG: ratio }, /a number from 0 to 1/);
  }
  assertRefused({ OTEL_TRACES_SAMPLER: 'xray' }, /one of parentbased_always_on, .* for OTEL_TRACES_SAMPLER/);
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

test('other unknown variables, such as removed settings, are named and keep nothing from starting', () => {
  const removed = [
    ...['ACCOUNT_MAX_BATCHES', 'ADDRESS_SHARE_PERCENT', 'AUDIT_SYNC', 'BATCH_WAIT_MS', 'CUDA_MEMORY_BYTES'],
    ...['DATABASE_CONNECTIONS', 'FETCH_STALL_TIMEOUT_MS', 'KEY_MEMORY_PERCENT', 'LARGE_FILE_TIMEOUT_MS'],
    ...['LARGE_FILE_RECEIVE_TIMEOUT_MS', 'MAX_ANSWER_BYTES', 'MAX_BATCH_LINES', 'MAX_EVENT_STREAMS'],
    ...['MAX_JOB_DURATION_S', 'MAX_OBJECT_BYTES', 'OIDC_SCOPES', 'OTLP_ENDPOINT', 'OTLP_HEADERS'],
    ...['STREAM_BUFFER_S', 'STREAM_IDLE_TIMEOUT_S', 'TRACE_RATIO', 'TRACE_SERVICE', 'WEBHOOK_TIMEOUT_MS'],
  ].map((name) => `VERAVOX_${name}`);
  const unknown = ['VERAVOX_OF_A_LATER_VERSION', ...removed];
  const set = Object.fromEntries(unknown.map((variable) => [variable, '1']));
  const env = { ...set, PATH: '/bin', PORTS: '1', VERAVOX_DEVICE: 'cpu' };
  assert.deepEqual(
    unknownVariables(env),
    unknown.map((variable) => ({ variable })),
  );
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
  for (const HOST of ['127.0.0.1', '0.0.0.0', '::']) {
    assertRefused(
      { HOST, PORT: '8080', VERAVOX_ADMIN_ADDRESS: '127.0.0.1:8080' },
      /^VERAVOX_ADMIN_ADDRESS must not overlap with the public address/,
    );
  }
  assert.ok(
    loadConfig({ HOST: '127.0.0.2', PORT: '8080', VERAVOX_ADMIN_ADDRESS: '127.0.0.1:8080' }).adminAddress,
  );
  assert.equal(loadConfig({ PORT: '0', VERAVOX_ADMIN_ADDRESS: '127.0.0.1:0' }).adminAddress?.port, 0);
});
