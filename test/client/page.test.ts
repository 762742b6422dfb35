// SPDX-License-Identifier: Apache-2.0
//
// The client in a web page, where `fetch` streams no files over HTTP/1.1.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';
import { packageDir } from '../../src/base/config/package-dir.js';
import { launchBrowser, openPage } from '../support/browser.js';
import { API_KEY, startTestServer } from '../support/test-server.js';

async function clientScript(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [path.join(packageDir, 'client/src/index.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'veravox',
    footer: { js: 'globalThis.veravox = veravox;' },
  });
  return outputFiles[0]?.text ?? '';
}

test('files, bytes and streams are uploaded from a page with their progress', async (t) => {
  const { origin, analyser } = await startTestServer(t);
  const page = await openPage(t, await launchBrowser(t), origin);
  await page.goto('/docs');
  await page.evaluate(await clientScript());
  const bytes = randomBytes(300_000);
  const answers = await page.evaluate(
    async ({ base64, baseUrl, apiKey }) => {
      // biome-ignore lint/suspicious/noExplicitAny: put there by the line above
      const { VeravoxClient } = (globalThis as any).veravox;
      const client = new VeravoxClient({ baseUrl, apiKey });
      const content = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      async function* pieces() {
        yield content.subarray(0, 1000);
        yield content.subarray(1000);
      }
      const seen: { sentBytes: number; totalBytes: number }[] = [];
      const headers: (string | null)[] = [];
      const options = {
        prediction_id: 'from-a-page',
        onUploadProgress: (progress: (typeof seen)[number]) => seen.push(progress),
        onHeaders: (all: Headers) => headers.push(all.get('server-timing')),
      };
      const ids: string[] = [];
      for (const input of [new File([content], 'a "b".wav'), content, { stream: pieces }]) {
        ids.push((await client.predict(input, options)).prediction_id);
      }
      const [link] = (await client.createUploadLinks(['stored.wav'])).url;
      await client.upload(link, new Blob([content]), options);
      const stored = await (
        await client.download((await client.getDownloadLinks('stored')).url[0])
      ).arrayBuffer();
      const refusal = await client
        .predict(content, { threshold: 2 })
        .catch((error: unknown) => String(error));
      const aborted = await client
        .predict(content, { signal: AbortSignal.abort(new Error('enough')) })
        .catch((error: unknown) => String(error));
      return { ids, seen, headers, refusal, aborted, storedBytes: stored.byteLength };
    },
    { base64: bytes.toString('base64'), baseUrl: origin, apiKey: API_KEY },
  );
  assert.deepEqual(answers.ids, ['from-a-page', 'from-a-page', 'from-a-page']);
  const hash = createHash('sha256').update(bytes).digest('hex');
  assert.deepEqual(analyser.hashes.slice(0, 3), [hash, hash, hash]);
  assert.equal(answers.storedBytes, bytes.length);
  const whole = answers.seen.filter(({ sentBytes, totalBytes }) => sentBytes === totalBytes);
  assert.equal(whole.length >= 4, true, JSON.stringify(answers.seen));
  assert.deepEqual(new Set(answers.seen.map(({ totalBytes }) => totalBytes)), new Set([bytes.length]));
  assert.match(answers.headers[0] ?? '', /inference/);
  assert.match(answers.refusal, /threshold/);
  assert.match(answers.aborted, /enough/);
});
