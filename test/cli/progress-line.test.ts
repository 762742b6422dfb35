// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ListProgressLine, ProgressLine } from '../../src/cli/progress-line.js';

const erase = '\r\x1b[2K';

/** Shows progress at these times, clears at the end, and returns the output. */
function written(isTTY: boolean, timesMs: readonly number[]): string[] {
  const texts: string[] = [];
  let nowMs = 0;
  const line = new ProgressLine({ isTTY, write: (text) => texts.push(text) }, 'a.wav', () => nowMs);
  for (const timeMs of timesMs) {
    nowMs = timeMs;
    line.show({ preparedS: 100, scoredWindows: 18, fileProgress: 0.25 });
  }
  line.clear();
  return texts;
}

test('nothing is written where there is no terminal', () => {
  assert.deepEqual(written(false, [1000, 2000]), []);
});

test('nothing is written for a file that takes less than half a second', () => {
  assert.deepEqual(written(true, [100, 499]), []);
});

test('a long file gets one line, drawn over at most ten times a second and erased at the end', () => {
  assert.deepEqual(written(true, [400, 1000, 1050, 1099, 2000]), [
    `${erase}a.wav  █████··············· 25%  1:40.0, 18 windows scored, 100 times real time`,
    `${erase}a.wav  █████··············· 25%  1:40.0, 18 windows scored, 50 times real time`,
    erase,
  ]);
});

test('a line is cut to the width that the terminal has when it is drawn', () => {
  const texts: string[] = [];
  let [nowMs, columns] = [0, 20];
  const output = {
    isTTY: true,
    get columns() {
      return columns;
    },
    write: (text: string) => texts.push(text),
  };
  const line = new ProgressLine(output, '\u{1F399}.wav', () => nowMs);
  const progress = { preparedS: 100, scoredWindows: 18, fileProgress: 0.25 };
  nowMs = 1000;
  line.show(progress);
  [nowMs, columns] = [2000, 10];
  line.show(progress);
  assert.deepEqual(texts, [`${erase}\u{1F399}.wav  █████·······`, `${erase}\u{1F399}.wav  ██`]);
});

test('a list gets one line with its speed, what is left and what failed', () => {
  const texts: string[] = [];
  let nowMs = 0;
  const output = { isTTY: true, write: (text: string) => texts.push(text) };
  const line = new ListProgressLine(output, 4, () => nowMs);
  for (const [timeMs, isFailure] of [
    [400, false],
    [1000, true],
    [1050, false],
    [2000, false],
  ] as const) {
    nowMs = timeMs;
    line.add(isFailure);
  }
  line.clear();
  assert.deepEqual(texts, [
    `${erase}██████████·········· 2 of 4 files, 2.0/s, 0:01.0 left, 1 without a score`,
    `${erase}████████████████████ 4 of 4 files, 2.0/s, 0:00.0 left, 1 without a score`,
    erase,
  ]);
});
