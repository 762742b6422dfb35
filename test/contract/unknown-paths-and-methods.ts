// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#errors.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { postForm, send } from './support/client.js';
import { endpoints } from './support/endpoints.js';
import { expectError } from './support/judge.js';

describe('Unknown paths and methods', () => {
  const methodsOf = new Map<string, string[]>();
  for (const { path, method } of endpoints) methodsOf.set(path, [...(methodsOf.get(path) ?? []), method]);

  for (const [path, methods] of methodsOf) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']) {
      // Servers of this interface need not support deletion of files; this one does.
      const isExtension = path === '/v1/file' && method === 'DELETE';
      if (methods.includes(method) || isExtension) continue;
      test(`${method} ${path} is 405, Allow says ${methods}`, async () => {
        const answer = await send(path, { method });
        expectError(answer, 405);
        const allowed = String(answer.headers.allow).split(/, */);
        for (const permitted of methods) assert.ok(allowed.includes(permitted), `Allow: ${allowed}`);
        assert.ok(!allowed.includes(method), `Allow: ${allowed}`);
      });
    }
  }

  const unknown = [
    '/v1',
    '/v1/',
    '/v1/predicts',
    '/v1/predict/small-file',
    '/v1/predict/large-file/1',
    '/v1/voiceid',
    '/v1/voiceid/identify',
    '/v1/files',
    '/v1/../v1/unknown',
    '/v0/predict/large-file',
    '/v0/voiceid/enroll',
    '/v0/voiceid/verify',
    '/predict/large-file',
    '/voiceid/enroll',
    '/voiceid/verify',
    '/v2/predict',
    '/V1/predict',
    '/unknown',
  ];
  for (const path of unknown) {
    test(`${path} is 404`, async () => {
      expectError(await send(path), 404);
      expectError(await postForm(path, { file: Buffer.from('x') }), 404);
    });
  }
});
