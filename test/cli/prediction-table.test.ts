// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pc from 'picocolors';
import { clock, predictionTable } from '../../src/cli/prediction-table.js';

const segment = { confidence: 0.9, result: 'bonafide' } as const;
const prediction = {
  prediction_id: 'pred_0123456789ab',
  global: { score: 0.3125, confidence: 0.9, result: 'bonafide', reason: 'mixed_content' },
  segments: [
    { ...segment, start: 0, end: 5, scores: [0] },
    { ...segment, start: 5, end: 10, scores: [0.2, 0.3], result: 'spoofed' },
    { ...segment, start: 3600, end: 3605, scores: [1] },
  ],
  model: 'a-model',
  processing_time: 1,
  audio_duration: 3605,
  warnings: ['Something was skipped.'],
} as const;

test('the table has a line for the file, one per segment with a bar as long as its score, and the warnings', () => {
  const table = predictionTable(
    'a.wav',
    { ...prediction, segments: [...prediction.segments], warnings: [...prediction.warnings] },
    pc.createColors(false),
  );
  assert.deepEqual(table.text.split('\n'), [
    'a.wav  bonafide  score 0.313  confidence 0.900  1:00:05.0  a-model  mixed_content',
    '   0:00.0 - 0:05.0     ····················  0.000  bonafide',
    '   0:05.0 - 0:10.0     █████···············  0.250  spoofed',
    '1:00:00.0 - 1:00:05.0  ████████████████████  1.000  bonafide',
    '  Something was skipped.',
    '',
  ]);
});

test('times have tenths of seconds, and carry', () => {
  assert.deepEqual([0, 5.04, 59.96, 83.4, 3599.99, 36_000].map(clock), [
    '0:00.0',
    '0:05.0',
    '1:00.0',
    '1:23.4',
    '1:00:00.0',
    '10:00:00.0',
  ]);
});
