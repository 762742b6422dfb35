// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { errorsOf, errorsOutsideOperations } from '../../../src/api/openapi/responses.js';
import { jobErrors } from '../../../src/base/contract/error-groups.js';
import { catalogue, type ErrorKey } from '../../../src/base/errors/catalogue.js';
import { request } from '../../support/http-client.js';
import { startJobServer } from '../../support/job-server.js';
import { documentOf, operationsOf, validatorOf } from '../../support/openapi.js';

test('the document is valid OpenAPI 3.1', async (t) => {
  const { origin } = await startJobServer(t);
  const validator = new Validator();
  const { valid, errors } = await validator.validate({ ...(await documentOf(origin)) });
  assert.ok(valid, JSON.stringify(errors));
  assert.equal(validator.version, '3.1');
});

/** Pages and targets of links, which no program calls by name, and a WebSocket, which OpenAPI cannot describe. */
const outsideDocument = [
  '/openapi.json',
  '/docs',
  '/docs/',
  '/dashboard',
  '/dashboard/',
  '/v1/admin/oidc/',
  '/metrics',
  '/veravox',
  '/veravox/',
  '/v1/stream',
];

test('every route that programs call by a name is documented, and nothing else', async (t) => {
  const { port, origin } = await startJobServer(t);
  const { paths } = await documentOf(origin);
  // The metrics learn a route from its first request on.
  for (const path of Object.keys(paths)) {
    if (!path.includes('#')) await request(port, path.replace(/\{\w+\}$/, 'x'), { method: 'OPTIONS' });
  }
  const { text } = await request(port, '/metrics');
  const series = new Map(
    [...text.matchAll(/^veravox_http_requests_total\{route="([^"]+)",/gm)].map((match) => [match[1], match]),
  ).values();
  const isOutside = (path: string): boolean =>
    path === 'other' ||
    path === '/' ||
    outsideDocument.some(
      (outside) => path === outside || (outside.endsWith('/') && path.startsWith(outside)),
    );
  const served = [...series].map(([, path]) => String(path)).filter((path) => !isOutside(path));
  const documented = new Map(
    Object.entries(paths)
      .filter(([path]) => !path.includes('#'))
      .map(([path, item]) => [path.replace(/\{\w+\}$/, ''), item]),
  );
  assert.deepEqual(served.sort(), [...documented.keys()].sort());
  for (const [path, item] of documented) {
    const { headers } = await request(port, path.replace(/\/$/, '/x'), { method: 'OPTIONS' });
    const allowed = String(headers.allow).toLowerCase().split(', ');
    assert.deepEqual(
      allowed.filter((method) => method !== 'head' && method !== 'options').sort(),
      Object.keys(item).sort(),
      path,
    );
  }
});

test('every error of the catalogue is documented, with its status, and no other', async (t) => {
  const { origin, server } = await startJobServer(t);
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
  const outside = server.routes
    .filter(({ path }) => !(path in document.paths))
    .flatMap((route) => [...errorsOf(route)]);
  const all = new Set<string>([...documented, ...outside, ...errorsOutsideOperations, ...jobErrors]);
  assert.deepEqual([...all].sort(), Object.keys(catalogue).sort());
  assert.ok(documented.has('NOT_FOUND') && documented.has('AUDIO_TOO_SHORT') && documented.size > 40);
});

test('no example has a gap where a value belongs, and each header of an error is described', async (t) => {
  const { origin } = await startJobServer(t);
  let examplesSeen = 0;
  for (const { operationId, responses } of operationsOf(await documentOf(origin))) {
    for (const [status, { content = {}, headers }] of Object.entries(responses)) {
      if (Number(status) >= 400 && operationId !== 'isReady') assert.ok(headers['x-error-key'], operationId);
      for (const { examples = {} } of Object.values(content)) {
        for (const [key, { value }] of Object.entries(examples)) {
          const text = JSON.stringify(value).replace(/[{,]"/g, '');
          assert.doesNotMatch(
            text,
            /\{|undefined/,
            `src/base/contract/example-values.ts lacks a value of ${key}: ${text}`,
          );
          examplesSeen++;
        }
      }
    }
  }
  assert.ok(examplesSeen > 100);
});

test('what is allowed, what holds without a value and how large a file may be can be read', async (t) => {
  const { origin } = await startJobServer(t, { maxPredictBytes: 5 << 20 });
  const { paths } = await documentOf(origin);
  const fieldsOf = (path: string) =>
    paths[path]?.post?.requestBody?.content['multipart/form-data']?.schema.properties ?? {};
  const predict = fieldsOf('/v1/predict');
  assert.equal(predict.file?.description, 'The recording. At most 5,242,880 bytes (5 MiB).');
  assert.match(
    String(predict.model?.description),
    /One of apollo-4-5-2026-03-26, apollo-4-2026-01-16; default apollo-4-5-2026-03-26\.$/,
  );
  assert.match(String(predict.device?.description), /One of macos, windows, web_app, api\.$/);
  assert.match(String(predict.silence_threshold?.description), /A number from 0 to 100; default 80\.$/);
  assert.match(
    String(fieldsOf('/v1/predict/large-file').file?.description),
    /5,000,000 bytes to 5,242,880 bytes/,
  );
});

test('a field for several files is a list with their least and largest number', async (t) => {
  const { origin } = await startJobServer(t);
  const { paths } = await documentOf(origin);
  const listOf = (path: string, field: string) => {
    const schema = paths[path]?.post?.requestBody?.content['multipart/form-data']?.schema;
    const { type, minItems, maxItems } = schema?.properties?.[field] ?? {};
    return { type, minItems, maxItems };
  };
  assert.deepEqual(listOf('/v1/voiceid/enroll-samples', 'audio_file'), {
    type: 'array',
    minItems: 1,
    maxItems: 10,
  });
  assert.deepEqual(listOf('/v1/profiles', 'file'), { type: 'array', minItems: 10, maxItems: 100 });
  assert.equal(listOf('/v1/voiceid/enroll', 'audio_file').type, 'string');
});

test('a form and JSON are operations of their own, whose requests go to the same address', async (t) => {
  const { origin } = await startJobServer(t);
  const { paths } = await documentOf(origin);
  const ofClients = Object.entries(paths).filter(([path]) => !path.startsWith('/v1/admin'));
  const bodies = ofClients.flatMap(([path, { post }]) =>
    post?.requestBody === undefined
      ? []
      : [[post.operationId, path, ...Object.keys(post.requestBody.content)]],
  );
  const isAdmin = ([, path]: readonly string[]) => path?.startsWith('/v1/admin/');
  for (const [name, , ...types] of bodies.filter(isAdmin))
    assert.deepEqual(types, ['application/json'], name);
  assert.deepEqual(
    bodies.filter((body) => !isAdmin(body)),
    [
      ['predict', '/v1/predict', 'multipart/form-data'],
      ['predictByLink', '/v1/predict#link', 'application/json'],
      ['predictLargeFile', '/v1/predict/large-file', 'multipart/form-data'],
      ['predictLargeFileByLink', '/v1/predict/large-file#link', 'application/json'],
      ['predictV0', '/v0/predict', 'multipart/form-data'],
      ['predictByLinkV0', '/v0/predict#link', 'application/json'],
      ['predictUnversioned', '/predict', 'multipart/form-data'],
      ['predictByLinkUnversioned', '/predict#link', 'application/json'],
      ['makeProfile', '/v1/profiles', 'multipart/form-data'],
      ['useProfileVersion', '/v1/profiles/{name}/use', 'application/json'],
      ['enroll', '/v1/voiceid/enroll', 'multipart/form-data'],
      ['enrollSamples', '/v1/voiceid/enroll-samples', 'multipart/form-data'],
      ['verify', '/v1/voiceid/verify', 'multipart/form-data'],
      ['identify', '/v1/voiceid/search', 'multipart/form-data'],
      ['createJob', '/v1/jobs', 'application/json'],
      ['createBatch', '/v1/batches', 'application/json'],
      ['createUploadLinks', '/v1/file', 'application/json'],
      ['createUploadLinksV0', '/v0/file', 'application/json'],
      ['createUploadLinksUnversioned', '/file', 'application/json'],
    ],
  );
});

test('every operation has a name of its own, every field and every answer a description', async (t) => {
  const { origin } = await startJobServer(t);
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
  const { origin } = await startJobServer(t);
  for (const { operationId, responses } of operationsOf(await documentOf(origin))) {
    for (const [status, { content = {} }] of Object.entries(responses)) {
      const { example, examples } = content['application/json'] ?? { example: {} };
      assert.ok(example ?? examples ?? operationId === 'openapi', `${operationId} ${status}`);
    }
  }
});

test('every example fits its schema', async (t) => {
  const { origin } = await startJobServer(t);
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
  const { origin } = await startJobServer(t, { maxPredictBytes: 12_345 });
  const { paths } = await documentOf(origin);
  const form = paths['/v1/predict']?.post?.requestBody?.content['multipart/form-data'];
  const { file, threshold, model } = form?.schema.properties ?? {};
  assert.equal(file?.['x-max-bytes'], 12_345);
  assert.deepEqual([threshold?.default, threshold?.minimum, threshold?.maximum], [0.5, 0, 1]);
  assert.deepEqual(model?.enum, ['apollo-4-5-2026-03-26', 'apollo-4-2026-01-16']);
});
