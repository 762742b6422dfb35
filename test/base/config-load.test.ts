// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, loadConfig } from '../../src/base/config/load-config.js';
import { options } from '../../src/base/config/options.js';
import { packageDir } from '../../src/base/config/package-dir.js';

const surroundings = { cores: 6, packageDir: '/opt/veravox', stateDir: '/home/me/.local/state/veravox' };
const load = (env: Record<string, string>) => loadConfig(env, surroundings);

function assertRefused(env: Record<string, string>, message: RegExp): void {
  assert.throws(
    () => load(env),
    (error) => error instanceof ConfigError && message.test(error.message),
  );
}

const refused: readonly [variable: string, given: string, message: RegExp][] = [
  ['PORT', '-1', /an integer from 0 to 65535 for PORT but received -1/],
  ['PORT', '65536', /for PORT but received 65536/],
  ['PORT', '80.5', /for PORT but received 80\.5/],
  ['PORT', '0x50', /for PORT but received 0x50/],
  ['PORT', '1e3', /for PORT but received 1e3/],
  ['PORT', 'http', /for PORT but received http/],
  ['VERAVOX_PREPARE_THREADS', '0', /an integer from 1 to 256 for VERAVOX_PREPARE_THREADS but received 0/],
  [
    'VERAVOX_QUEUE_TIMEOUT_MS',
    '5min',
    /\(ms\), or with a unit, such as 500ms, 10s or 2m, for VERAVOX_QUEUE_TIMEOUT_MS/,
  ],
  ['VERAVOX_QUEUE_TIMEOUT_MS', '2h', /an integer from 1 to 3600000 \(ms\).* but received 2h/],
  ['VERAVOX_QUEUE_TIMEOUT_MS', '0.5ms', /for VERAVOX_QUEUE_TIMEOUT_MS but received 0\.5ms/],
  [
    'VERAVOX_MAX_PREDICT_BYTES',
    '5M',
    /such as 64MiB or 250MB, for VERAVOX_MAX_PREDICT_BYTES but received 5M/,
  ],
  ['VERAVOX_MAX_INFLIGHT_REQUESTS', '10s', /\(requests\) for VERAVOX_MAX_INFLIGHT_REQUESTS but received 10s/],
  ['VERAVOX_MODELS_DIR', '/nope', /a folder that exists for VERAVOX_MODELS_DIR but received \/nope/],
  ['VERAVOX_MAX_INFLIGHT_BYTES', '99999999999999999999', /\(bytes\).* for VERAVOX_MAX_INFLIGHT_BYTES/],
  [
    'VERAVOX_CUDA_DEVICES',
    '0,0',
    /different numbers such as `0,1` for VERAVOX_CUDA_DEVICES but received 0,0/,
  ],
  ['VERAVOX_CUDA_DEVICES', 'first', /`all`, `none` or .* for VERAVOX_CUDA_DEVICES but received first/],
  ['VERAVOX_DEVICE', 'gpu', /one of auto, cpu, cuda, webgpu for VERAVOX_DEVICE but received gpu/],
  [
    'VERAVOX_STORAGE_ENDPOINT',
    'minio:9000',
    /an http or https URL without a path for VERAVOX_STORAGE_ENDPOINT/,
  ],
  ['VERAVOX_STORAGE_ENDPOINT', 'ftp://minio', /for VERAVOX_STORAGE_ENDPOINT but received ftp:\/\/minio/],
  ['VERAVOX_STORAGE_PUBLIC_URL', 'https://a.example/files?a', /for VERAVOX_STORAGE_PUBLIC_URL/],
  ['VERAVOX_STORAGE_PUBLIC_URL', 'https://a.example/a%2fb', /for VERAVOX_STORAGE_PUBLIC_URL/],
  ['VERAVOX_STORAGE_PUBLIC_URL', 'https://a.example//b', /for VERAVOX_STORAGE_PUBLIC_URL/],
  ['VERAVOX_STORAGE_ENDPOINT', 'https://a.example/files', /without a path for VERAVOX_STORAGE_ENDPOINT/],
  ['VERAVOX_STORAGE_PUBLIC_URL', 'https://me@a.example', /for VERAVOX_STORAGE_PUBLIC_URL/],
  ['VERAVOX_STORAGE_LINK_LIFETIME_S', '604801', /an integer from 1 to 604800 \(s\)/],
  ['VERAVOX_MATCH_THRESHOLD', '1.5', /0 to 1 or the name of an operating point for .* received 1\.5/],
  ['VERAVOX_MATCH_THRESHOLD', 'none', /for VERAVOX_MATCH_THRESHOLD but received none/],
  ['VERAVOX_LOG_LEVEL', 'INFO', /one of trace, .* for VERAVOX_LOG_LEVEL but received INFO/],
];
for (const [variable, given, message] of refused) {
  test(`${variable}=${given} is refused with what was expected and received`, () => {
    assertRefused({ [variable]: given }, message);
  });
}

test('upload memory that cannot hold the largest file is refused', () => {
  const inflight = { VERAVOX_MAX_INFLIGHT_BYTES: '6000000', VERAVOX_MAX_VOICEID_BYTES: '6000000' };
  const predict = { VERAVOX_MAX_PREDICT_BYTES: '6000001', VERAVOX_MAX_LARGE_FILE_BYTES: '6000000' };
  assertRefused(
    { ...inflight, ...predict },
    /at least VERAVOX_MAX_PREDICT_BYTES \(6000001\) .* received 6000000/,
  );
  const large = { VERAVOX_MAX_PREDICT_BYTES: '6000000', VERAVOX_MAX_LARGE_FILE_BYTES: '6000001' };
  assertRefused({ ...inflight, ...large }, /at least VERAVOX_MAX_LARGE_FILE_BYTES \(6000001\)/);
  const config = load({ ...inflight, ...predict, ...large, VERAVOX_MAX_LARGE_FILE_BYTES: '6000000' });
  assert.equal(config.maxLargeFileBytes, 6_000_000);
  assertRefused(
    { VERAVOX_MAX_INFLIGHT_BYTES: '20000000', VERAVOX_MAX_LARGE_FILE_BYTES: '20000000' },
    /at least VERAVOX_MAX_VOICEID_BYTES \(26214400\) .* received 20000000/,
  );
});

test('every option has its own variable, and its default is a value that it accepts', () => {
  const all = Object.values(options);
  assert.equal(new Set(all.map((option) => option.variable)).size, all.length);
  for (const option of all) {
    const value = option.default({ ...surroundings, packageDir });
    assert.deepEqual(option.parse(String(value)), value, option.variable);
  }
});

test('with nothing set the defaults apply, and empty counts as not set', () => {
  const config = load({});
  assert.equal(config.port, 8080);
  assert.equal(config.host, '127.0.0.1');
  assert.equal(config.modelsDir, '/opt/veravox/models');
  assert.equal(config.prepareThreads, 2);
  assert.equal(config.scoringThreads, 6);
  assert.equal(config.maxInflightBytes, 268435456);
  assert.deepEqual(load({ PORT: '', VERAVOX_DEVICE: ' ' }), config);
});

test('one core still gives a thread of each kind, and one more so that large files block nobody', () => {
  const config = loadConfig({}, { ...surroundings, cores: 1 });
  assert.equal(config.prepareThreads, 2);
  assert.equal(config.scoringThreads, 1);
});

test('CUDA has defaults of its own, and what is set wins over them, too', () => {
  const { maxBatchWindows, cudaDevices, onGpu } = load({});
  assert.deepEqual([maxBatchWindows, cudaDevices], [4, 'all']);
  assert.deepEqual(onGpu, { prepareThreads: 5, maxBatchWindows: 64 });
  const given = load({ VERAVOX_MAX_BATCH_WINDOWS: '8', VERAVOX_CUDA_DEVICES: '2, 0' });
  assert.deepEqual(given.onGpu, { prepareThreads: 5, maxBatchWindows: 8 });
  assert.deepEqual(given.cudaDevices, [2, 0]);
});

test('settings of GPUs contradict a device that uses none', () => {
  assertRefused(
    { VERAVOX_DEVICE: 'cpu', VERAVOX_CUDA_DEVICES: '0' },
    /VERAVOX_CUDA_DEVICES has no effect: VERAVOX_DEVICE is cpu\./,
  );
  assertRefused(
    { VERAVOX_DEVICE: 'cuda', VERAVOX_CUDA_DEVICES: 'none' },
    /VERAVOX_DEVICE is cuda, but VERAVOX_CUDA_DEVICES is none/,
  );
  assert.equal(load({ VERAVOX_DEVICE: 'cpu', VERAVOX_CUDA_DEVICES: 'none' }).cudaDevices, 'none');
});

test('several processes divide the cores', () => {
  const share = loadConfig({}, { ...surroundings, cores: 15 / 2 });
  assert.deepEqual([share.scoringThreads, share.prepareThreads, share.onGpu.prepareThreads], [7, 2, 6]);
  assert.equal(loadConfig({}, { ...surroundings, cores: 2 / 3 }).scoringThreads, 1);
});

test('what is set wins over the default', () => {
  const env = { PORT: '0', HOST: '::', VERAVOX_DATA_DIR: '/var/lib/veravox', VERAVOX_DEVICE: 'cuda' };
  const config = load({ ...env, VERAVOX_SCORING_THREADS: ' 3 ' });
  assert.equal(config.port, 0);
  assert.equal(config.host, '::');
  assert.equal(config.dataDir, '/var/lib/veravox');
  assert.equal(config.device, 'cuda');
  assert.equal(config.scoringThreads, 3);
});

test('the public address may have a path, but not that of a bucket', () => {
  const env = { VERAVOX_STORAGE_PUBLIC_URL: 'https://intranet.example/veravox/' };
  assert.equal(load(env).storagePublicUrl, 'https://intranet.example/veravox');
  assert.throws(() => load({ ...env, VERAVOX_STORAGE_BUCKET: 'files' }), /without a path .* with a bucket/);
});

test('a URL may end with a slash and name the port of its scheme', () => {
  const url = 'https://files.example';
  for (const given of [url, `${url}/`, `${url}:443`, 'HTTPS://Files.Example']) {
    assert.equal(load({ VERAVOX_STORAGE_PUBLIC_URL: given }).storagePublicUrl, url);
  }
});
