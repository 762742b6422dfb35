// SPDX-License-Identifier: Apache-2.0
//
// What the documentation shows is sent to a server with the models that ship: the requests work, and the answers are
// as described.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pino } from 'pino';
import { packageDir } from '../src/config/package-dir.js';
import { type RunningServer, startServer } from '../src/http/server.js';
import { ServiceMetrics } from '../src/observe/service-metrics.js';
import { startPipeline } from '../src/pipeline/pipeline.js';
import { UploadArena } from '../src/upload/arena.js';
import {
  documentOf,
  type MediaType,
  type OpenApiDocument,
  type OperationObject,
  validatorOf,
} from './support/openapi.js';
import { API_KEY, testAuthenticator, testConfig } from './support/test-server.js';

const recording = fs.readFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.flac'));

let server: RunningServer;
let origin: string;
let document: OpenApiDocument;

before(async () => {
  const config = { ...testConfig, modelsDir: path.join(packageDir, 'models') };
  const arena = new UploadArena(config.maxInflightBytes);
  const analyser = await startPipeline(config, arena.buffer);
  const log = pino({ level: 'silent' });
  server = await startServer({
    config,
    analyser,
    arena,
    keys: testAuthenticator,
    log,
    metrics: new ServiceMetrics(),
  });
  origin = `http://127.0.0.1:${server.port}`;
  document = await documentOf(origin);
});

after(() => server.stop());

function bodyOf(type: string, { example = {} }: MediaType): RequestInit {
  if (type === 'application/json')
    return { body: JSON.stringify(example), headers: { 'content-type': type } };
  const form = new FormData();
  for (const [name, value] of Object.entries(example)) {
    if (String(value).startsWith('@')) form.append(name, new File([recording], String(value).slice(1)));
    else form.append(name, String(value));
  }
  return { body: form, headers: {} };
}

/** One request per form of the body. */
function requestsOf({ requestBody, parameters }: OperationObject) {
  const query = new URLSearchParams();
  for (const { name, in: place, example } of parameters) {
    if (place === 'query' && name !== undefined && example !== undefined) query.set(name, String(example));
  }
  const forms = Object.entries(requestBody?.content ?? {});
  const bodies = forms.length === 0 ? [{}] : forms.map(([type, media]) => bodyOf(type, media));
  return bodies.map((body) => ({ query: query.size === 0 ? '' : `?${query}`, ...body }));
}

test('every request that is shown works, and its answer is as described', async () => {
  const validate = validatorOf(document);
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      for (const { query, ...request } of requestsOf(operation)) {
        const key = operation.security.length === 0 ? {} : { 'x-api-key': API_KEY };
        const headers = { ...request.headers, ...key };
        const url = `${origin}${path}${query}`;
        const response = await fetch(url, { ...request, method: method.toUpperCase(), headers });
        const text = await response.text();
        assert.equal(response.status, 200, `${method} ${path}: ${text}`);
        const described = operation.responses['200']?.content ?? {};
        const [type = ''] = String(response.headers.get('content-type')).split(';');
        assert.ok(Object.hasOwn(described, type), `${method} ${path} answers ${type}`);
        if (type === 'application/json') validate(described[type]?.schema ?? {}, JSON.parse(text), path);
      }
    }
  }
});
