// SPDX-License-Identifier: Apache-2.0
//
// The same bytes give the same numbers, to the last bit, whatever the load and the place. For shipped models, and for an
// imported one whose last layer is a matrix, so that the batch changes the order of sums.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { packageDir } from '../../src/base/config/package-dir.js';
import { type Answers, answersOfClips, oneByOne } from '../support/answers-of-clips.js';
import { importedModelsDir } from '../support/imported-models.js';

const folders = [path.join(packageDir, 'models'), importedModelsDir];
const files = ['human-lj-a.flac', 'human-lj-a.mp3', 'ai-kokoro.flac', 'human-vctk-p226-a.opus'].map((name) =>
  path.join(packageDir, 'test/fixtures', name),
);
const alone = new Map<string, Answers>();

before(async () => {
  for (const modelsDir of folders) {
    const [answers] = await answersOfClips({ ...oneByOne, modelsDir }, files);
    alone.set(modelsDir, answers as Answers);
  }
});

/** The order of arrival differs; the numbers must not. */
function assertSame(answers: Answers, modelsDir: string): void {
  const expected = alone.get(modelsDir) as Answers;
  assert.deepEqual(Object.keys(answers).sort(), Object.keys(expected).sort());
  for (const [what, numbers] of Object.entries(answers)) assert.deepEqual(numbers, expected[what], what);
}

test('many at once, in batches over several threads', async () => {
  for (const modelsDir of folders) {
    const config = { ...oneByOne, modelsDir, prepareThreads: 3, scoringThreads: 3, maxBatchWindows: 8 };
    const rounds = await answersOfClips(config, files, { copies: 4, together: true });
    assert.equal(rounds.length, 4);
    for (const answers of rounds) assertSame(answers, modelsDir);
  }
});

test('in another process', async () => {
  const program = fileURLToPath(new URL('../support/answers-of-clips.js', import.meta.url));
  for (const modelsDir of folders) {
    const { stdout } = await promisify(execFile)(process.execPath, [program, modelsDir, ...files]);
    assertSame(JSON.parse(stdout) as Answers, modelsDir);
  }
});
