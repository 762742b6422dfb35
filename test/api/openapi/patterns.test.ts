// SPDX-License-Identifier: Apache-2.0
//
// Clients in many languages use the document's patterns: each is valid in ECMAScript with and without the flag u,
// and in Python, and means the same in all three.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { startJobServer } from '../../support/job-server.js';
import { documentOf } from '../../support/openapi.js';

/** Reads patterns and texts, and prints which texts each pattern matches. */
const inPython = `
import json, re, sys
given = json.load(sys.stdin)
json.dump([[bool(re.search(p, t)) for t in given["texts"]] for p in given["patterns"]], sys.stdout)`;

const texts = [
  ...[
    '',
    'a',
    'A',
    '0',
    'analysis',
    'Ü',
    '音',
    '🎤',
    'a🎤b',
    'a b',
    'a\tb',
    'a\nb',
    '\u0000',
    '\u007f',
    '\u0085',
    '\u2028',
  ],
  ...['/a', 'a/b', 'a/../b', '..', '.', 'a/.', 'a/..', '.a', 'a..b', 'a//b', './a', '../a', '...', 'a/...'],
  ...[
    'null',
    'true',
    'nan',
    'nana',
    'strict_1',
    '_a',
    'call-4711',
    'a:b',
    'a'.repeat(32),
    'a'.repeat(33),
    'a'.repeat(129),
  ],
  ...[
    '97.5%',
    '97.5 %',
    '97%',
    '%',
    '2026-11-21T12:00:00.000Z',
    '2026-11-21T12:00:00Z',
    '2026-11-21 12:00:00Z',
  ],
  ...[
    'a1b2c3d4-e5f6-7890-abcd-ef1234567890',
    'mixed_content',
    'mixed__content',
    'https://a.example/b?c=d',
    'https://a/b',
  ],
  // Of the admin API.
  ...[
    '100',
    'f'.repeat(12),
    '2027-01-31T12:00:00+01:00',
    '2027-01-31',
    'A'.repeat(43),
    'a\u202eb',
    'a\ufeff',
  ],
];

function patternsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === 'pattern' && typeof member === 'string' ? [member] : patternsIn(member),
  );
}

test('every pattern of the document means the same in ECMAScript with and without u, and in Python', async (t) => {
  const { origin } = await startJobServer(t);
  const patterns = [...new Set(patternsIn(await documentOf(origin)))];
  assert.ok(patterns.length >= 8, patterns.join('\n'));
  const { stdout, stderr } = spawnSync('python3', ['-c', inPython], {
    input: JSON.stringify({ patterns, texts }),
    encoding: 'utf8',
  });
  assert.equal(stderr, '');
  const found: boolean[][] = JSON.parse(stdout);
  patterns.forEach((pattern, i) => {
    const withU = texts.map((text) => new RegExp(pattern, 'u').test(text));
    const withoutU = texts.map((text) => new RegExp(pattern).test(text));
    assert.deepEqual(withoutU, withU, pattern);
    assert.deepEqual(found[i], withU, pattern);
    assert.ok(withU.includes(true) && withU.includes(false), `The texts do not try ${pattern}.`);
  });
});
