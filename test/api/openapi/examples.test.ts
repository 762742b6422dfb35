// SPDX-License-Identifier: Apache-2.0
//
// The documentation's examples are sent to a whole server with real threads: the requests work, and the answers are
// as described. Only unknowns are filled in: files, links and a voiceprint.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { VeravoxClient } from '../../../client/src/index.js';
import { loadAddon } from '../../../src/base/addon/addon.js';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { callEndpoint, callEventsEndpoint } from '../../../src/base/contract/stream-endpoints.js';
import type { RunningServer } from '../../../src/service/server-options.js';
import { withDatabase } from '../../../src/state/database/open-database.js';
import { ProfileTable } from '../../../src/state/operating-points/profile-table.js';
import { eventually } from '../../support/eventually.js';
import {
  documentOf,
  type MediaType,
  type OpenApiDocument,
  type OperationObject,
  validatorOf,
} from '../../support/openapi.js';
import { averageSpectrum, writeModels } from '../../support/speaker-models.js';
import { sqliteIn } from '../../support/stored-keys.js';
import { someProfile } from '../../support/stored-points.js';
import { StreamClient } from '../../support/stream-client.js';
import { API_KEY, testConfig } from '../../support/test-server.js';
import { monoWav, repeated } from '../../support/wav.js';
import { startWholeServer } from '../../support/whole-server.js';

const RATE_HZ = 16_000;
/** More than the ten seconds that an enrolment takes. */
const MIN_RECORDING_S = 12;
/** A bias with which the detector calls every voice human. */
const HUMAN_BIAS = -30;

let folder: string;
let server: RunningServer;
let origin: string;
let document: OpenApiDocument;
let client: VeravoxClient;
let speech: Float32Array;
let filledIn: Readonly<Record<string, string>>;
let largeLink: string;

/** A recording of at least this size. */
function recording(bytes = 0): Uint8Array<ArrayBuffer> {
  const samples = Math.max(MIN_RECORDING_S * RATE_HZ, Math.ceil(bytes / Int16Array.BYTES_PER_ELEMENT));
  return new Uint8Array(monoWav(repeated(speech, samples), RATE_HZ));
}

/** A speaker model, and a detector under each id that a route requires. */
function prepareModels(): string {
  const modelsDir = fs.mkdtempSync(path.join(folder, 'models-'));
  writeModels(modelsDir, [averageSpectrum()], HUMAN_BIAS);
  const manifestFile = path.join(modelsDir, 'manifest.json');
  const manifest = JSON.parse(fs.readFileSync(manifestFile, 'utf8'));
  manifest.models.push({ ...manifest.models[0], id: 'apollo-4-2025-10-20', aliases: [] });
  fs.writeFileSync(manifestFile, JSON.stringify(manifest));
  return modelsDir;
}

async function storedLink(key: string, bytes = 0): Promise<string> {
  const [upload] = (await client.createUploadLinks([key])).url;
  assert.ok(upload);
  await client.upload(upload, recording(bytes));
  const [download] = (await client.getDownloadLinks(key)).url;
  assert.ok(download);
  return download.value;
}

before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-examples-'));
  speech = loadAddon().decode(
    fs.readFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.flac')),
  ).samples;
  const config = {
    ...testConfig,
    dataDir: folder,
    modelsDir: prepareModels(),
    prepareThreads: 2,
    scoringThreads: 2,
  };
  server = await startWholeServer(config);
  origin = `http://127.0.0.1:${server.port}`;
  document = await documentOf(origin);
  client = new VeravoxClient({ baseUrl: origin, apiKey: API_KEY });
  const { embedding } = await client.enroll(recording());
  const presigned_url = await storedLink('recording.wav');
  const { id } = await client.createJob({ presignedUrl: presigned_url });
  const voiceprints = JSON.stringify([{ id: 'anna', voice_vector: embedding }]);
  const profile = { ...someProfile, account: 'one' };
  await withDatabase(sqliteIn(folder), (database) => new ProfileTable(database).save(profile));
  filledIn = {
    name: profile.name,
    voice_vector: JSON.stringify(embedding),
    voiceprints,
    presigned_url,
    id,
    key: 'recording.wav',
  };
  largeLink = await storedLink('large.wav', 5_000_000);
});

after(async () => {
  await server.stop();
  fs.rmSync(folder, { recursive: true });
});

function bodyOf(path: string, type: string, { schema, example = {} }: MediaType): RequestInit {
  if (type === 'application/json') {
    const known = path.startsWith('/v1/predict/large-file')
      ? { ...filledIn, presigned_url: largeLink }
      : filledIn;
    const entries = Object.entries(example).map(([name, value]) => [name, known[name] ?? value]);
    return { body: JSON.stringify(Object.fromEntries(entries)), headers: { 'content-type': type } };
  }
  const form = new FormData();
  for (const [name, value] of Object.entries(example)) {
    const isFile = String(value).startsWith('@');
    const minBytes = Number(schema.properties?.[name]?.['x-min-bytes'] ?? 0);
    if (isFile) form.append(name, new File([recording(minBytes)], String(value).slice(1)));
    else form.append(name, filledIn[name] ?? String(value));
  }
  return { body: form };
}

/** One request per form of the body. */
function requestsOf(path: string, { requestBody }: OperationObject): RequestInit[] {
  const forms = Object.entries(requestBody?.content ?? {});
  return forms.length === 0 ? [{}] : forms.map(([type, media]) => bodyOf(path, type, media));
}

function urlOf(path: string, { parameters }: OperationObject): string {
  const query = new URLSearchParams();
  for (const { name, in: place, example } of parameters) {
    if (place === 'query' && name !== undefined && example !== undefined) query.set(name, String(example));
  }
  const filled = path.replace(/\{(\w+)\}/, (_, name: string) => filledIn[name] ?? '');
  return `${origin}${filled}${query.size === 0 ? '' : `?${query}`}`;
}

/** Events of a call come to an end with it. */
async function runningCall(streamSid: string): Promise<StreamClient> {
  const call = await StreamClient.open(server.port, { path: callEndpoint.path });
  const mediaFormat = { encoding: 'PCMU', sampleRate: 8000 };
  call.say({ event: 'start', streamSid, start: { mediaFormat } });
  call.say({ event: 'media', media: { timestamp: 0, payload: Buffer.alloc(8000).toString('base64') } });
  await eventually(
    async () => /^veravox_streams 1$/m.test(await (await fetch(`${origin}/metrics`)).text()),
    'the call has begun',
  );
  return call;
}

test('every request that is shown works, and its answer is as described', async () => {
  const validate = validatorOf(document);
  const shown = new Set<string>();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      for (const request of requestsOf(path, operation)) {
        const what = `${method} ${path}`;
        // Its detector would need vectors and a bias against the recordings: see test/api/profiles.
        if (what === 'post /v1/profiles') continue;
        const key = operation.security.length === 0 ? {} : { 'x-api-key': API_KEY };
        const headers = { ...(request.headers as object), ...key };
        const init = { ...request, method: method.toUpperCase(), headers };
        const call = path === callEventsEndpoint.path ? await runningCall(String(filledIn.id)) : undefined;
        const response = await fetch(urlOf(path, operation), init);
        call?.vanish();
        const text = await response.text();
        const success = Object.keys(operation.responses).find((status) => status.startsWith('2')) ?? '200';
        assert.equal(response.status, Number(success), `${what}: ${text}`);
        const described = operation.responses[success]?.content ?? {};
        const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
        assert.ok(type === '' || Object.hasOwn(described, type), `${what} answers with ${type}`);
        if (type === 'application/json') validate(described[type]?.schema ?? {}, JSON.parse(text), what);
        for (const header of response.headers.keys()) {
          if (!transportHeaders.has(header))
            assert.ok(operation.responses[success]?.headers[header], `${what}: ${header}`);
        }
        shown.add(what);
      }
    }
  }
  assert.ok(shown.has('post /v1/voiceid/verify') && shown.has('post /v1/predict/large-file'));
});

/** Standard headers of HTTP, its proxies, caches and security, which OpenAPI does not describe. */
const transportHeaders = new Set([
  'accept-ranges',
  'cache-control',
  'connection',
  'content-length',
  'content-security-policy',
  'content-type',
  'date',
  'etag',
  'keep-alive',
  'last-modified',
  'referrer-policy',
  'transfer-encoding',
  'uwebsockets',
  'x-accel-buffering',
  'x-content-type-options',
]);
