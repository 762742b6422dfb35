// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#versions.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Answer } from './support/client.js';
import { send } from './support/client.js';
import { nameOf, unversionedEndpoints, v0Endpoints, v1Endpoints } from './support/endpoints.js';

const months = (count: number): number => count * 30 * 86_400_000;

/** RFC 9745 writes `@` and seconds; its drafts wrote a date, or `true`. */
function deprecatedAt(header: string): number | undefined {
  if (header === 'true') return undefined;
  const ms = header.startsWith('@') ? Number(header.slice(1)) * 1000 : Date.parse(header);
  assert.ok(Number.isFinite(ms), `Deprecation: ${header}`);
  return ms;
}

function expectDeprecated({ headers }: Answer): void {
  const since = deprecatedAt(String(headers.deprecation));
  const sunset = Date.parse(String(headers.sunset));
  assert.ok(Number.isFinite(sunset), `Sunset: ${headers.sunset}`);
  if (since !== undefined) assert.ok(sunset - since >= months(6), 'versions remain for 6 months');
  const link = String(headers.link);
  assert.match(link, /<[^>]*\/v1[^>]*>[^,]*;\s*rel="?successor-version"?/, `Link: ${link}`);
}

describe('Versioning', () => {
  for (const endpoint of [...v0Endpoints, ...unversionedEndpoints]) {
    test(`${nameOf(endpoint)} says that it is deprecated, until when, and what follows it`, async () => {
      const good = await endpoint.send();
      assert.equal(good.status, 200, good.text);
      expectDeprecated(good);
      const refused = await endpoint.send({ key: null });
      assert.equal(refused.status, 403);
      expectDeprecated(refused);
    });
  }

  for (const endpoint of v1Endpoints) {
    test(`${nameOf(endpoint)} is not deprecated`, async () => {
      const { status, headers, text } = await endpoint.send();
      assert.equal(status, 200, text);
      assert.deepEqual(
        [headers.deprecation, headers.sunset, headers.link],
        [undefined, undefined, undefined],
      );
    });
  }

  for (const path of ['/v0/predict', '/v0/file', '/predict', '/file']) {
    test(`a wrong method of ${path} is refused in its version`, async () => {
      const answer = await send(path, { method: 'DELETE' });
      assert.equal(answer.status, 405);
      expectDeprecated(answer);
    });
  }
});
