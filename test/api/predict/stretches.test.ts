// SPDX-License-Identifier: Apache-2.0
//
// `detail=stretches` wherever a recording can be sent; another detail is refused there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileEntry, formBody, noise } from '../../support/form-body.js';
import { postForm } from '../../support/http-client.js';
import { splicedAnalysis } from '../../support/spliced-analysis.js';
import { startTestServer } from '../../support/test-server.js';

const routes = [
  ['/v1/predict', Buffer.from('x')],
  ['/v1/predict/large-file', noise(5_000_000)],
] as const;

const form = (file: Uint8Array, fields: Readonly<Record<string, string>>) =>
  formBody([fileEntry(file), ...Object.entries(fields).map(([name, content]) => ({ name, content }))]);

test('stretches are answered on request', async (t) => {
  const { port, analyser } = await startTestServer(t);
  analyser.answer = ({ model: modelId }) => ({ ...splicedAnalysis, modelId });
  for (const [path, file] of routes) {
    const { status, json } = await postForm(port, path, form(file, { detail: 'stretches' }));
    assert.equal(status, 200);
    assert.deepEqual([json.global.result, json.global.reason], ['bonafide', 'mixed_content']);
    assert.equal(json.contains_generated, true);
    const [{ start, end, score, strength }, ...others] = json.stretches;
    assert.deepEqual([start, end, score, others], [30.5, 34, 0.98, []]);
    assert.ok(strength > 4);
    const plain = await postForm(port, path, form(file, {}));
    assert.equal(plain.json.global.reason, 'mixed_content', 'the verdict is the same');
    assert.ok(!('stretches' in plain.json) && !('contains_generated' in plain.json));
  }
});

test('without a second look the verdict stands, stretches are absent, and a warning says why', async (t) => {
  const { port, analyser } = await startTestServer(t);
  const { closerWindows: _, ...first } = splicedAnalysis;
  const why = {
    QUEUE_DEADLINE: /^Stretches are not known: .* because no thread was free for it in time\./,
    ANALYSIS_TIMEOUT: /^Stretches are not known: .* because it did not end in time\./,
  };
  for (const missedLook of ['QUEUE_DEADLINE', 'ANALYSIS_TIMEOUT'] as const) {
    analyser.answer = ({ model: modelId }) => ({ ...first, channels: 2, modelId, missedLook });
    for (const [path, file] of routes) {
      const { status, json } = await postForm(
        port,
        path,
        form(file, { detail: 'stretches', channels: 'separate' }),
      );
      assert.equal(status, 200);
      for (const part of [json, ...json.channels]) {
        assert.deepEqual([part.global.result, part.global.reason], ['bonafide', null]);
        assert.match(part.warnings.join(), why[missedLook]);
        assert.ok(!('stretches' in part) && !('contains_generated' in part));
      }
    }
  }
});

test('another detail is refused before the analysis', async (t) => {
  const { port, analyser } = await startTestServer(t);
  for (const [path, file] of routes) {
    for (const detail of ['windows', 'Stretches', 'stretches,windows', '']) {
      const { status, json } = await postForm(port, path, form(file, { detail }));
      assert.equal(status, 400, detail);
      assert.match(json.message, /stretches for detail/);
    }
  }
  assert.equal(analyser.requests.length, 0);
});
