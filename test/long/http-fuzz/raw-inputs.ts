// SPDX-License-Identifier: Apache-2.0
import { fieldPart, filePart, formBytes } from './framing.js';
import { head, type Input, type Surroundings } from './input.js';
import { formType } from './media-inputs.js';
import { mutateBytes } from './mutate-bytes.js';
import { oddText } from './odd-values.js';
import type { Random } from './random.js';

const many = (text: string, count: number) => text.repeat(count);

function bases({ host, apiKey }: Surroundings, correlationId: string): readonly string[] {
  const common = [
    ['Host', host],
    ['X-Api-Key', apiKey],
    ['X-Correlation-Id', correlationId],
  ] as const;
  const form = formBytes('b', [
    filePart('file', Buffer.from('RIFF')),
    fieldPart('threshold', '0.5'),
  ]).toString('latin1');
  const formHeaders = [...common, ['Content-Type', formType.replace(/boundary=.*/, 'boundary=b')]] as const;
  const json = '{"keys":["a"],"entity":"analysis"}';
  const jsonHeaders = [...common, ['Content-Type', 'application/json']] as const;
  return [
    head('GET', '/livez', common),
    head('GET', '/v1/file?key_prefix=a&entity=analysis', common),
    head('POST', '/v1/predict', [...formHeaders, ['Content-Length', String(form.length)]]) + form,
    head('POST', '/v1/file', [...jsonHeaders, ['Content-Length', String(json.length)]]) + json,
    head('POST', '/v1/file', [...jsonHeaders, ['Transfer-Encoding', 'chunked']]) +
      `${json.length.toString(16)}\r\n${json}\r\n0\r\n\r\n`,
    `${head('PUT', '/veravox/a/analysis/b', [...common, ['Content-Length', '5']])}hello`,
  ];
}

type Bend = (text: string, random: Random) => string;

function insertHeader(text: string, random: Random, line: string): string {
  const lines = text.split('\r\n');
  const end = lines.indexOf('');
  lines.splice(1 + random.below(Math.max(1, end)), 0, line);
  return lines.join('\r\n');
}

const oddLines = [
  ...[
    'Content-Length: 0',
    'Content-Length: 5',
    'Content-Length: -1',
    'Content-Length: +5',
    'Content-Length: 0x5',
  ],
  ...[
    'Content-Length: 5, 5',
    'Content-Length: 99999999999999999999',
    'Content-Length:',
    'Content-Length: 5 5',
  ],
  ...['Transfer-Encoding: chunked', 'Transfer-Encoding: identity', 'Transfer-Encoding: gzip, chunked'],
  ...['Transfer-Encoding: chunked, chunked', 'Transfer-Encoding:\tchunked', 'Transfer-Encoding : chunked'],
  ...[
    'Transfer-Encoding: xchunked',
    'transfer-encoding: CHUNKED',
    'Expect: 100-continue',
    'Expect: nonsense',
  ],
  ...['Host: other', 'Host:', 'Host: a b', 'Connection: close', 'Connection: upgrade', 'Upgrade: websocket'],
  ...[
    'Upgrade: h2c',
    'HTTP2-Settings: AAMAAABkAAQAAP__',
    'X: a\0b',
    'X: a\rb',
    'X: \xff\xfe',
    'no colon',
    ': no name',
  ],
  ...[
    ' folded',
    '\tfolded',
    'X : a',
    'X\0: a',
    `X: ${many('a', 100_000)}`,
    `X: ${many('a', 5000)}`,
    `X: ${many('a', 3500)}`,
  ],
  ...['X-Api-Key: other', 'X-Correlation-Id: nonsense', 'X-Forwarded-For: 1.2.3.4', 'Range: bytes=0-'],
];

const firstLines = [
  ...[
    'GET /livez HTTP/1.0',
    'GET /livez HTTP/0.9',
    'GET /livez HTTP/2.0',
    'GET /livez',
    'GET http://evil/livez HTTP/1.1',
  ],
  ...[
    'GET  /livez HTTP/1.1',
    'GET /livez HTTP/1.1 ',
    'get /livez HTTP/1.1',
    'GET * HTTP/1.1',
    'CONNECT a:1 HTTP/1.1',
  ],
  ...[
    'GET /live\0z HTTP/1.1',
    'GET /%00 HTTP/1.1',
    `${many('A', 200)} / HTTP/1.1`,
    `GET /${many('a', 5000)} HTTP/1.1`,
  ],
  ...[
    'TRACE /livez HTTP/1.1',
    'PRI * HTTP/2.0',
    'PROXY TCP4 1.2.3.4 5.6.7.8 1 2',
    '',
    '\r\n',
    'GET /livez HTTP/1.1\rX: a',
  ],
  ...[
    'OPTIONS * HTTP/1.1',
    'GET //livez HTTP/1.1',
    'GET /v1/../livez HTTP/1.1',
    'POST /v1/predict/ HTTP/1.1',
  ],
];

const bends: readonly (readonly [number, Bend])[] = [
  [6, (text, random) => insertHeader(text, random, random.pick(oddLines))],
  [
    2,
    (text, random) =>
      insertHeader(insertHeader(text, random, random.pick(oddLines)), random, random.pick(oddLines)),
  ],
  [3, (text, random) => text.replace(/^[^\r\n]*/, () => random.pick(firstLines))],
  [
    1,
    (text, random) => insertHeader(text, random, many('X: a\r\n', random.pick([60, 110, 400])).slice(0, -2)),
  ],
  [1, (text) => text.replaceAll('\r\n', '\n')],
  [1, (text) => text.replace(/\r\nHost:[^\r]*/, '')],
  [
    1,
    (text, random) =>
      text + random.pick(['\r\n\r\n', 'garbage', '\0', many('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n', 20)]),
  ],
  [1, (text, random) => text + text + (random.chance(0.5) ? text : '')],
  [1, (text, random) => insertHeader(text, random, `${oddText(random, 2000)}: ${oddText(random, 2000)}`)],
  [1, (_, random) => random.bytes(1 + random.below(600)).toString('latin1')],
  [1, () => `\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03${many('a', 100)}`],
  [1, (text) => `\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c${many('\x01', 12)}${text}`],
  [
    4,
    (text, random) =>
      mutateBytes(Buffer.from(text, 'latin1'), random, [Buffer.from(text, 'latin1')]).toString('latin1'),
  ],
];

/** Bytes that hardly resemble HTTP. They need no answer, but any answer must be sound. */
export function rawInput(random: Random, correlationId: string, surroundings: Surroundings): Input {
  const text = random.weighted(bends)(random.pick(bases(surroundings, correlationId)), random);
  return {
    kind: 'raw',
    what: JSON.stringify(text.slice(0, 60)),
    bytes: Buffer.from(text, 'latin1'),
    isHttp: false,
    correlationId,
    isApi: false,
  };
}
