// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filesForCpu, filesForGpu, StartedWork } from '../../src/analysis/prepare/started-work.js';

test('a single core works on one file of an owner, more cores on one for each thread', () => {
  assert.equal(filesForCpu({ prepareThreads: 2, scoringThreads: 1 }, 1), 1);
  assert.equal(filesForCpu({ prepareThreads: 2, scoringThreads: 2 }, 2), 4);
  assert.equal(filesForCpu({ prepareThreads: 4, scoringThreads: 16 }, 16), 20);
});

test('a GPU gets its next batch while it works', () => {
  assert.equal(filesForGpu({ prepareThreads: 3, scoringThreads: 1, maxBatchWindows: 32 }), 67);
});

test('each owner has room of its own, which comes back with the end of a file', () => {
  const work = new StartedWork(2);
  work.begin('a');
  assert.equal(work.hasRoom('a'), true);
  work.begin('a');
  assert.equal(work.hasRoom('a'), false);
  assert.equal(work.hasRoom('b'), true);
  work.end('a');
  assert.equal(work.hasRoom('a'), true);
});
