// SPDX-License-Identifier: Apache-2.0
import type { Random } from './random.js';

const many = (text: string, count: number) => text.repeat(count);

/** Texts that break code written for ordinary ones. */
const texts: readonly string[] = [
  ...['', ' ', '\t', '\0', 'null', 'undefined', 'true', '[]', '{}', '__proto__', 'constructor', 'toString'],
  ...[
    '0',
    '-0',
    '1',
    '1.0',
    '0.5',
    '+.5',
    '.5',
    '5.',
    '1e400',
    '1e-400',
    '-1',
    'NaN',
    'Infinity',
    '0x1',
    '0,5',
    '１',
  ],
  ...[
    '100',
    '100.0000000001',
    '99999999999999999999',
    '1.0000000000000001',
    ' 0.5 ',
    '0.5\r\n',
    '1e',
    'e1',
    '--1',
  ],
  ...[
    '../../../etc/passwd',
    '..\\..\\',
    '%2e%2e%2f',
    '/',
    '//',
    'C:\\a',
    'a/b',
    'a\\b',
    '%',
    '%zz',
    '%00',
    '%ff',
  ],
  ...[
    '<script>',
    '"',
    "'",
    '`',
    ';',
    '\\',
    '$(id)',
    '$${a}',
    '{{7*7}}',
    'a\r\nset-cookie: a=b',
    '\x1b[31m',
    '\x7f',
  ],
  ...[
    'é',
    'ü',
    '\ufeff',
    '\u202e',
    '\ud83d\ude00',
    '\u0000\u0001',
    'ﬀ',
    'İ',
    'ß',
    '\u2028',
    '\ufffd',
    '\uffff',
  ],
  ...[
    'apollo-4-2025-10-20',
    'apollo-4-5-2026-03-26',
    'latest',
    'api',
    'API',
    'macos',
    'web_app',
    'pred_123456789012',
  ],
];

/** The same, but too long. */
const longTexts: readonly ((length: number) => string)[] = [
  (length) => many('1', length),
  (length) => `${many('1', length)}x`,
  (length) => `0.${many('0', length)}`,
  (length) => many(' ', length),
  (length) => `1${many(' ', length)}1`,
  (length) => many('[', length),
  (length) => `[${many('1,', length / 2)}1]`,
  (length) => `[${many('1e39,', length / 5)}1]`,
  (length) => many('A', length),
  (length) => many('=', length),
  (length) => many('a.', length / 2),
  (length) => many('%41', length / 3),
  (length) => many('\\"', length / 2),
  (length) => many('ü', length / 2),
];

export function oddText(random: Random, maxLength = 66_000): string {
  if (random.chance(0.75)) return random.pick(texts);
  const length = random.pick([16, 33, 129, 513, 1000, 8193, 65_535, 65_537].filter((n) => n <= maxLength));
  return random.pick(longTexts)(length);
}

/** Without characters that end a header line, a request target or the request's framing. */
export function oddHeaderValue(random: Random): string {
  return oddText(random, 1000)
    .replace(/[^\x20-\x7e]/g, '_')
    .trim();
}

const vectors: readonly (() => string)[] = [
  () => JSON.stringify(Array.from({ length: 257 }, () => 0.1)),
  () => JSON.stringify(Array.from({ length: 255 }, () => 0.1)),
  () => JSON.stringify(Array.from({ length: 256 }, () => 0)),
  () => JSON.stringify(Array.from({ length: 256 }, () => [0.1])),
  () => JSON.stringify(Array.from({ length: 256 }, () => '0.1')),
  () => `[${many('1e39,', 255)}1]`,
  () => `[${many('1e-45,', 255)}1]`,
  () => `[${many('null,', 255)}null]`,
  () => Buffer.alloc(1024, 0xff).toString('base64'),
  () => Buffer.alloc(1024, 0x3d).toString('base64'),
  () => Buffer.alloc(1024, 0x3d).toString('base64url'),
  () => Buffer.alloc(1023, 0x3d).toString('base64'),
  () => `${many('[', 30_000)}${many(']', 30_000)}`,
];
export const oddVector = (random: Random): string => random.pick(vectors)();

/** A value for a member of a JSON body, as text. */
export function oddJson(random: Random): string {
  return random.weighted<() => string>([
    [8, () => JSON.stringify(oddText(random))],
    [
      2,
      () =>
        random.pick([
          'null',
          'true',
          '0',
          '-0',
          '1e400',
          '-1',
          '1E+2',
          '01',
          'NaN',
          '[]',
          '{}',
          '""',
          '[[]]',
          'tru',
        ]),
    ],
    [1, () => many('[', random.pick([10, 1000, 30_000])) + many(']', random.pick([10, 1000, 30_000]))],
    [1, () => `${many('{"a":', random.pick([10, 1000]))}1${many('}', random.pick([10, 1000]))}`],
    [1, () => `{${Array.from({ length: 1000 }, (_, i) => `"k${i}":${i}`).join()}}`],
    [1, () => JSON.stringify(Array.from({ length: random.pick([99, 101, 5000]) }, (_, i) => `k${i}`))],
    [
      1,
      () => random.pick(['"\\ud800"', '"\\u0000"', '"\\x41"', '"\n"', '{"__proto__":{"presigned_url":"a"}}']),
    ],
  ])();
}
