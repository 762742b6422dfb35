// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { catalogue } from '../src/errors/catalogue.js';
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
  const document = await documentOf(origin);
  // The metrics know the server's routes from its front door.
  const { text } = await request(port, '/metrics');
  const served = new Set(
    [...text.matchAll(/veravox_http_requests_total\{route="([^"]+)"/g)].map(([, path]) => path),
  );
  served.delete('other');
  assert.deepEqual([...served].sort(), Object.keys(document.paths).sort());
  for (const [path, item] of Object.entries(document.paths)) {
    const { headers } = await request(port, path, { method: 'OPTIONS' });
    const allowed = String(headers.allow)
      .split(', ')
      .filter((method) => method !== 'HEAD' && method !== 'OPTIONS');
    assert.deepEqual(allowed.map((method) => method.toLowerCase()).sort(), Object.keys(item).sort(), path);
  }
});

test('every error of the catalogue is documented, and no other', async (t) => {
  const { origin } = await startTestServer(t);
  const document = await documentOf(origin);
  const documented = new Set<string>();
  for (const responses of [
    document.components.responses,
    ...operationsOf(document).map((operation) => operation.responses),
  ]) {
    for (const [status, { content }] of Object.entries(responses)) {
      const examples = Object.entries(content?.['application/json']?.examples ?? {});
      for (const [key, { value }] of examples) {
        documented.add(key);
        if (/^\d+$/.test(status))
          assert.equal(catalogue[key as keyof typeof catalogue]?.status, Number(status), key);
        assert.ok(JSON.stringify(value).length > 0);
      }
    }
  }
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
      for (const [name, field] of Object.entries(schema.properties)) {
        assert.ok(field.description, `${operationId} ${name}`);
      }
    }
    for (const [status, { description }] of Object.entries(responses))
      assert.ok(description, `${operationId} ${status}`);
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
  const { properties } = (await documentOf(origin)).paths['/v1/predict']?.post?.requestBody?.content[
    'multipart/form-data'
  ]?.schema ?? { properties: {} };
  assert.equal(properties.file?.['x-max-bytes'], 12_345);
  assert.deepEqual(
    [properties.threshold?.default, properties.threshold?.minimum, properties.threshold?.maximum],
    [0.5, 0, 1],
  );
  assert.deepEqual(properties.model?.enum, ['apollo-4-5-2026-03-26', 'apollo-4-2026-01-16']);
});
