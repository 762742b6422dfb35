// SPDX-License-Identifier: Apache-2.0
//
// No text is matched in more than linear time: every pattern of the source is proven linear, or has no known attack
// after a search, and is timed with hostile texts of the greatest input length.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { findPatterns, findSourcePatterns, type SourcePattern } from '../support/source-patterns.js';

/** Its browser entry is all JavaScript; the other one starts native programs if it finds them. */
const { checkSync } = createRequire(import.meta.url)('recheck/lib/browser.js') as typeof import('recheck');

/** No field, header or name that is matched as a whole is longer. */
const LONGEST_INPUT_CHARS = 64 * 1024;
/** A pattern of quadratic time takes seconds, a linear one a few milliseconds. */
const MAX_CPU_MS = 400;
/** By default the search for attacks ends by the clock, which a busy machine makes short. */
const wholeSearch = {
  timeout: null,
  attackTimeout: null,
  incubationTimeout: null,
  maxIteration: 5,
} as const;

const { patterns, unreadable } = findSourcePatterns();
const shown = ({ file, source, flags }: SourcePattern): string => `${file}: /${source}/${flags}`;
const distinct = [
  ...new Map(patterns.map((pattern) => [`${pattern.source}/${pattern.flags}`, pattern])).values(),
];

test('the search finds literals, schema patterns, and what would hide one', () => {
  const program = `
    const NAME = /a[/]b/gi;
    export const one = { pattern: '^x$', 'pattern': NAME.source, format: 'pattern' };
    const hidden = [new RegExp(NAME), RegExp('a'), 'a'.match('b'), 'a'.match(NAME), 'a'.search(\`\${b}\`)];
    const schema = { pattern: 'a' + 'b', patternProperties: {} };
    new Ajv({ formats: { name: NAME } });
    // /no pattern/
    const division = 4 / 2 / 1;`;
  const { patterns, unreadable } = findPatterns('x.js', program);
  assert.deepEqual(
    patterns.map(({ source, flags }) => `/${source}/${flags}`),
    ['/a[/]b/gi', '/^x$/u'],
  );
  assert.equal(unreadable.length, 7, unreadable.join('\n'));
});

test('every pattern of the source can be read from it', () => {
  assert.deepEqual(unreadable, []);
  assert.ok(patterns.length > 60, `${patterns.length} patterns`);
});

test('the proof tells linear patterns from others', () => {
  assert.equal(checkSync('^\\d+(?:\\.\\d*)?$', '', wholeSearch).status, 'safe');
  assert.equal(checkSync('^\\d+\\.?\\d*$', '', wholeSearch).status, 'vulnerable');
  assert.equal(checkSync('^[ \\t]*;?[ \\t]*$', '', wholeSearch).status, 'vulnerable');
  assert.equal(checkSync('^(a+)+$', '', wholeSearch).status, 'vulnerable');
});

test('every pattern of the source takes linear time', () => {
  for (const pattern of distinct) {
    const found = checkSync(pattern.source, pattern.flags, wholeSearch);
    const attack = found.status === 'vulnerable' ? found.attack.pattern : 'unknown';
    assert.equal(found.status, 'safe', `${shown(pattern)}: ${attack}`);
  }
});

const repeated = `0 a A . / = - " \\ \\" ' %2 0. a. a/`.split(' ').concat(' ', '\t', '\r\n ');

/** A start at which the pattern may begin to match, then a long repetition, then an end that spoils the match. */
function hostileTexts({ source }: SourcePattern, chars: number): string[] {
  const literals = source.match(/[A-Za-z0-9=;:/.,'" _-]+/g) ?? [];
  const starts = ['', literals.join(''), ...literals].slice(0, 6);
  const units = [...new Set([...repeated, ...literals])];
  const textOf = (start: string, unit: string): string =>
    `${start}${unit.repeat(Math.floor((chars - start.length - 1) / unit.length))}\0`;
  return starts.flatMap((start) => units.map((unit) => textOf(start, unit)));
}

function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const match = ({ source, flags }: SourcePattern, text: string): void => {
  // All uses in the source: test, exec, match and replace, each of which tries every start it can.
  void text.replace(new RegExp(source, flags), '');
};

test('the texts are hostile enough for patterns of quadratic time', () => {
  // A quarter of the length takes a sixteenth of the time.
  for (const source of [
    '^[+-]?(\\d+\\.?\\d*|\\.\\d+)(e[+-]?\\d+)?$',
    '^[ \\t]*;?[ \\t]*$',
    '=+$',
    '\\.?0+$',
  ]) {
    const pattern = { file: '', source, flags: '' };
    const isSlow = hostileTexts(pattern, LONGEST_INPUT_CHARS / 4).some(
      (text) => cpuMsOf(() => match(pattern, text)) > MAX_CPU_MS / 16,
    );
    assert.ok(isSlow, source);
  }
});

test('every pattern of the source is fast on hostile texts of the longest length', () => {
  for (const pattern of distinct) {
    for (const text of hostileTexts(pattern, LONGEST_INPUT_CHARS)) {
      const cpuMs = cpuMsOf(() => match(pattern, text));
      assert.ok(
        cpuMs < MAX_CPU_MS,
        `${shown(pattern)} took ${cpuMs} ms on ${JSON.stringify(text.slice(0, 40))}...`,
      );
    }
  }
});
