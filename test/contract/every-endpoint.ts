// SPDX-License-Identifier: Apache-2.0
//
// Promised in docs/api.md#the-api.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { human } from './support/audio.js';
import { postForm } from './support/client.js';
import { endpoints, nameOf } from './support/endpoints.js';
import { expectEnrollment, expectPrediction } from './support/judge.js';
import { skipUnlessOwn, target } from './support/target.js';
import { wav } from './support/wav.js';

describe('Every endpoint', () => {
  for (const endpoint of endpoints) {
    test(`${nameOf(endpoint)} answers a right request with 200 and JSON`, async () => {
      const { status, headers, text } = await endpoint.send();
      assert.equal(status, 200, text);
      assert.match(String(headers['content-type']), /^application\/json\b/);
    });

    test(`${nameOf(endpoint)} wants an API key`, async () => {
      const { status } = await endpoint.send({ key: null });
      assert.equal(status, endpoint.version === 'v1' ? 401 : 403);
    });
  }

  test('neither audio nor voiceprints are stored', { skip: skipUnlessOwn }, async () => {
    const file = wav(human(12));
    expectPrediction(await postForm('/v1/predict', { file }));
    const { embedding } = expectEnrollment(await postForm('/v1/voiceid/enroll', { audio_file: file }));
    const traces = [
      file.subarray(file.length / 2, file.length / 2 + 64),
      Buffer.from(String(embedding[0])),
      Buffer.from(new Float32Array(embedding.slice(0, 4)).buffer),
    ];
    const stored = filesIn(target.own?.dataDir ?? '');
    assert.ok(stored.length > 0, 'the data folder holds at least the keys');
    for (const name of stored) {
      const content = readIfThere(name);
      assert.ok(!traces.some((trace) => content.includes(trace)), `${name} holds what was sent or answered`);
    }
  });
});

/** Empty if the server has renamed the file since it was listed, as when it replaces one. */
function readIfThere(name: string): Buffer {
  try {
    return fs.readFileSync(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

function filesIn(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}
