// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type MultipartLimits, MultipartParser } from '../../../src/api/upload/multipart-parser.js';
import { boundaryOf } from '../../../src/api/upload/part-headers.js';
import { ServiceError } from '../../../src/base/errors/service-error.js';

const limits: MultipartLimits = {
  maxParts: 4,
  maxHeaderBytes: 200,
  maxFieldBytes: 16,
  maxFileBytes: 64,
  fileTooLarge: () => new ServiceError('FILE_TOO_LARGE', { allowedBytes: 64, hint: '' }),
};

interface ParsedPart {
  name: string;
  filename: string | undefined;
  content: string;
}

/** Parses the body in pieces of this size; memory behind the received bytes is full of delimiters. */
function parse(body: string, boundary = 'b', pieceBytes = Number.POSITIVE_INFINITY): ParsedPart[] {
  const bytes = Buffer.from(body);
  const memory = Buffer.alloc(bytes.length, `\r\n--${boundary}--`);
  const parser = new MultipartParser(memory, boundary, 'file', limits);
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const filled = Math.min(bytes.length, at + pieceBytes);
    bytes.copy(memory, at, at, filled);
    parser.advance(filled);
  }
  return parser.finish().map(({ name, filename, start, end }) => ({
    name,
    filename,
    content: memory.toString('utf8', start, end),
  }));
}

/** Every cut gives the same result. */
function parseAnyCut(body: string, boundary = 'b'): ParsedPart[] {
  const whole = parse(body, boundary);
  for (let pieceBytes = 1; pieceBytes < Buffer.byteLength(body); pieceBytes++) {
    assert.deepEqual(parse(body, boundary, pieceBytes), whole, `in pieces of ${pieceBytes} bytes`);
  }
  return whole;
}

const part = (name: string, content: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`;
const withDisposition = (disposition: string): string =>
  `--b\r\nContent-Disposition: ${disposition}\r\n\r\nx\r\n--b--\r\n`;

describe('refusals', () => {
  const refused = (body: string, key: string, message: RegExp): void => {
    for (const pieceBytes of [1, 3, Number.POSITIVE_INFINITY]) {
      assert.throws(
        () => parse(body, 'b', pieceBytes),
        (error) => error instanceof ServiceError && error.key === key && message.test(error.message),
      );
    }
  };
  const cases: [what: string, body: string, key: string, message: RegExp][] = [
    ['an empty body', '', 'MULTIPART_MALFORMED', /final boundary/],
    ['no final boundary', part('a', 'x'), 'MULTIPART_MALFORMED', /final boundary/],
    [
      'lines that end in LF',
      `${part('a', 'x')}--b--\r\n`.replaceAll('\r', ''),
      'MULTIPART_MALFORMED',
      /end in CRLF/,
    ],
    ['lines that end in LF behind a preamble', '\n--b\nx', 'MULTIPART_MALFORMED', /end in CRLF/],
    ['a cut final boundary', `${part('a', 'x')}--b-`, 'MULTIPART_MALFORMED', /final boundary/],
    ['another boundary', part('a', 'x').replaceAll('--b', '--c'), 'MULTIPART_MALFORMED', /final boundary/],
    ['no part headers', '--b\r\n\r\nx\r\n--b--', 'MULTIPART_MALFORMED', /content-disposition/],
    ['a header without a name', '--b\r\n: x\r\n\r\nx\r\n--b--', 'MULTIPART_MALFORMED', /header line/],
    ['no form-data', withDisposition('attachment; name="a"'), 'MULTIPART_MALFORMED', /content-disposition/],
    ['no name', withDisposition('form-data; filename="a"'), 'MULTIPART_MALFORMED', /content-disposition/],
    [
      'two names',
      withDisposition('form-data; name="a"; name="b"'),
      'MULTIPART_MALFORMED',
      /content-disposition/,
    ],
    ['an open quote', withDisposition('form-data; name="a'), 'MULTIPART_MALFORMED', /content-disposition/],
    [
      'an encoded part',
      '--b\r\nContent-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64\r\n\r\nx\r\n--b--',
      'MULTIPART_MALFORMED',
      /content-transfer-encoding/,
    ],
    ['too many parts', `${part('a', '').repeat(5)}--b--`, 'MULTIPART_LIMIT', /more than 4 parts/],
    [
      'large part headers',
      withDisposition(`form-data; name="${'a'.repeat(200)}"`),
      'MULTIPART_LIMIT',
      /200 bytes/,
    ],
    ['a large field', `${part('a', 'x'.repeat(17))}--b--`, 'FIELD_TOO_LARGE', /field a .* 16 bytes/],
    ['a large file', `${part('file', 'x'.repeat(65))}--b--`, 'FILE_TOO_LARGE', /64 bytes/],
  ];
  for (const [what, body, key, message] of cases) test(what, () => refused(body, key, message));

  test('limits hold before the end of the part has come', () => {
    const body = Buffer.from(part('a', 'x'.repeat(100)));
    const parser = new MultipartParser(body, 'b', 'file', limits);
    assert.throws(() => parser.advance(body.length - 20), { key: 'FIELD_TOO_LARGE' });
  });

  test('limits allow exactly what they say', () => {
    const body = `${part('a', 'x'.repeat(16))}${part('file', 'x'.repeat(64))}${part('c', '')}${part('d', '')}--b--`;
    assert.deepEqual(
      parseAnyCut(body).map(({ content }) => content.length),
      [16, 64, 0, 0],
    );
  });
});

describe('bodies', () => {
  test('fields before and after the file, in the order of the body', () => {
    const parts = parseAnyCut(`${part('a', '1')}${part('file', '\r\n--c\r\n')}${part('a', '2')}--b--\r\n`);
    assert.deepEqual(
      parts.map(({ name, content }) => [name, content]),
      [
        ['a', '1'],
        ['file', '\r\n--c\r\n'],
        ['a', '2'],
      ],
    );
  });

  test('preamble, epilogue and padding after boundaries are skipped', () => {
    const body = `preamble --b\r\nmore\r\n--b \t\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--b-- \r\n${part('z', 'z')}`;
    assert.deepEqual(parseAnyCut(body), [{ name: 'a', filename: undefined, content: 'x' }]);
  });

  test('content that almost is a delimiter', () => {
    const content = '\r\r\n\r\n-\r\n--';
    assert.equal(parseAnyCut(`${part('file', content)}--b--`)[0]?.content, content);
    const longer = '\r\n--bc\r\n--b-x';
    assert.equal(parseAnyCut(`${part('file', longer)}--b--`)[0]?.content, longer);
  });

  test('a part whose headers are followed by the next delimiter at once is empty', () => {
    const body = '--b\r\nContent-Disposition: form-data; name=a\r\n\r\n--b--';
    assert.deepEqual(parseAnyCut(body), [{ name: 'a', filename: undefined, content: '' }]);
  });

  test('no parts at all', () => {
    assert.deepEqual(parseAnyCut('--b--\r\n'), []);
  });
});

describe('names', () => {
  const named = (disposition: string): [string, string | undefined] => {
    const [parsed] = parseAnyCut(withDisposition(disposition));
    return [parsed?.name ?? '', parsed?.filename];
  };
  const cases: [disposition: string, name: string, filename: string | undefined][] = [
    ['form-data; name="a"; filename="b.wav"', 'a', 'b.wav'],
    ['form-data;name=a;filename=b.wav', 'a', 'b.wav'],
    ['FORM-DATA ; NAME = "a" ; FileName = "b.wav" ;', 'a', 'b.wav'],
    ['form-data; filename="x; name=no"; name="a"', 'a', 'x; name=no'],
    [String.raw`form-data; name="a\"\\b"`, 'a"\\b', undefined],
    [String.raw`form-data; name="a"; filename="C:\dir\f.wav"`, 'a', String.raw`C:\dir\f.wav`],
    [String.raw`form-data; name="a\"; filename="C:\"`, 'a\\', 'C:\\'],
    ['form-data; name="a%22b%0D%0Ac%41"', 'a"b\r\nc%41', undefined],
    ['form-data; name="größe"; filename="ü.wav"', 'größe', 'ü.wav'],
    [`form-data; name="a"; filename="x"; filename*=UTF-8''%c3%bc%20b.wav`, 'a', 'ü b.wav'],
    [`form-data; name*=utf-8'en'%E2%82%AC`, '€', undefined],
    [`form-data; name="a"; filename*=ISO-8859-1''%fc.wav`, 'a', 'ü.wav'],
    [`form-data; name="a"; filename="x"; filename*=UTF-8''%c3`, 'a', 'x'],
    ['form-data;\r\n name="a";\r\n\tfilename="b"', 'a', 'b'],
    ['form-data; name=""; filename=""', '', ''],
  ];
  for (const [disposition, name, filename] of cases) {
    test(disposition, () => assert.deepEqual(named(disposition), [name, filename]));
  }
});

describe('the boundary of a content-type', () => {
  const accepted: [contentType: string, boundary: string][] = [
    ['multipart/form-data; boundary=abc', 'abc'],
    ['Multipart/Form-Data;charset=utf-8;BOUNDARY="a b:c"', 'a b:c'],
    [String.raw`multipart/form-data; boundary="a\"b"`, 'a"b'],
    [`multipart/form-data; boundary=${'a'.repeat(70)}`, 'a'.repeat(70)],
  ];
  for (const [contentType, boundary] of accepted) {
    test(`of ${contentType}`, () => assert.equal(boundaryOf(contentType), boundary));
  }
  const refused: [contentType: string, key: string][] = [
    ['', 'CONTENT_TYPE_INVALID'],
    ['application/json', 'CONTENT_TYPE_INVALID'],
    ['multipart/form-dataX; boundary=a', 'CONTENT_TYPE_INVALID'],
    ['multipart/mixed; boundary=a', 'CONTENT_TYPE_INVALID'],
    ['multipart/form-data', 'MULTIPART_MALFORMED'],
    ['multipart/form-data; boundary=', 'MULTIPART_MALFORMED'],
    ['multipart/form-data; boundary="a "', 'MULTIPART_MALFORMED'],
    ['multipart/form-data; boundary=a; boundary=b', 'MULTIPART_MALFORMED'],
    [`multipart/form-data; boundary=${'a'.repeat(71)}`, 'MULTIPART_MALFORMED'],
    ['multipart/form-data; boundary="ä"', 'MULTIPART_MALFORMED'],
  ];
  for (const [contentType, key] of refused) {
    test(`none in ${contentType || 'nothing'}`, () => assert.throws(() => boundaryOf(contentType), { key }));
  }
});
