// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { catalogue, type ErrorKey } from '../src/errors/catalogue.js';
import { request } from './support/http-client.js';
import { documentOf, operationsOf, validatorOf } from './support/openapi.js';
import { startTestServer } from './support/test-server.js';

test('the document is valid OpenAPI 3.1', async (t) => {
  const { origin } = await startTestServer(t);
  const validator = new Validator();
  const { valid, errors } = await validator.validate({ ...(await documentOf(origin)) });
  assert.ok(valid, JSON.stringify(errors));
  assert.equal(validator.version, '3.1');
});

test('every route is documented, and nothing else', async (t) => {
  const { port, origin } = await startTestServer(t);
  const { paths } = await documentOf(origin);
  // The metrics know the server's routes from its front door.
  const { text } = await request(port, '/metrics');
  const series = text.matchAll(/^veravox_http_requests_total\{route="([^"]+)",status="200"/gm);
  const served = [...series].map(([, path]) => String(path)).filter((path) => path !== 'other');
  // A route that takes all paths under a prefix has a parameter for the rest.
  const documented = new Map(
    Object.entries(paths).map(([path, item]) => [path.replace(/\{\w+\}$/, ''), item]),
  );
  assert.deepEqual(served.sort(), [...documented.keys()].sort());
  for (const [path, item] of documented) {
    const { headers } = await request(port, path, { method: 'OPTIONS' });
    const allowed = String(headers.allow).toLowerCase().split(', ');
    assert.deepEqual(
      allowed.filter((method) => method !== 'head' && method !== 'options').sort(),
      Object.keys(item).sort(),
      path,
    );
  }
});

test('every error of the catalogue is documented, with its status, and no other', async (t) => {
  const { origin } = await startTestServer(t);
  const document = await documentOf(origin);
  const documented = new Set<string>();
  for (const operation of operationsOf(document)) {
    for (const [status, { content = {} }] of Object.entries(operation.responses)) {
      for (const { examples = {} } of Object.values(content)) {
        for (const key of Object.keys(examples)) {
          documented.add(key);
          assert.equal(
            catalogue[key as ErrorKey]?.status,
            Number(status),
            `${key} of ${operation.operationId}`,
          );
        }
      }
    }
  }
  for (const key of Object.keys(document.components.responses)) documented.add(key);
  assert.deepEqual([...documented].sort(), Object.keys(catalogue).sort());
});

test('every operation has a name of its own, every field and every answer a description', async (t) => {
  const { origin } = await startTestServer(t);
  const operations = operationsOf(await documentOf(origin));
  assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length);
  for (const { operationId, summary, parameters, requestBody, responses } of operations) {
    assert.ok(summary, operationId);
    for (const { name, description } of parameters)
      assert.ok(name === undefined || description, `${operationId} ${name}`);
    for (const { schema } of Object.values(requestBody?.content ?? {})) {
      for (const [name, field] of Object.entries(schema.properties ?? {})) {
        assert.ok(field.description, `${operationId} ${name}`);
      }
    }
    for (const [status, { description }] of Object.entries(responses))
      assert.ok(description, `${operationId} ${status}`);
  }
});

test('every answer in JSON has an example', async (t) => {
  const { origin } = await startTestServer(t);
  for (const { operationId, responses } of operationsOf(await documentOf(origin))) {
    for (const [status, { content = {} }] of Object.entries(responses)) {
      const { example, examples } = content['application/json'] ?? { example: {} };
      assert.ok(example ?? examples ?? operationId === 'openapi', `${operationId} ${status}`);
    }
  }
});

test('every example fits its schema', async (t) => {
  const { origin } = await startTestServer(t);
  const document = await documentOf(origin);
  const validate = validatorOf(document);
  let checked = 0;
  for (const { operationId, requestBody, responses } of operationsOf(document)) {
    const contents = [
      requestBody?.content ?? {},
      ...Object.values(responses).map(({ content }) => content ?? {}),
    ];
    for (const { schema, example, examples = {} } of contents.flatMap((content) => Object.values(content))) {
      for (const value of [example, ...Object.values(examples).map((named) => named.value)]) {
        if (value === undefined) continue;
        validate(schema, value, operationId);
        checked++;
      }
    }
  }
  assert.ok(checked > 10);
});

test('the limits and defaults are those of the settings and of the validation', async (t) => {
  const { origin } = await startTestServer(t, { maxPredictBytes: 12_345 });
  const { paths } = await documentOf(origin);
  const form = paths['/v1/predict']?.post?.requestBody?.content['multipart/form-data'];
  const { file, threshold, model } = form?.schema.properties ?? {};
  assert.equal(file?.['x-max-bytes'], 12_345);
  assert.deepEqual([threshold?.default, threshold?.minimum, threshold?.maximum], [0.5, 0, 1]);
  assert.deepEqual(model?.enum, ['apollo-4-5-2026-03-26', 'apollo-4-2026-01-16']);
});
