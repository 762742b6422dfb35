// SPDX-License-Identifier: Apache-2.0
//
// All readers of texts or bytes from clients and their storages, with hostile inputs. A new reader needs a new entry.
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { Speaker } from '../../src/analysis/voiceid/speaker.js';
import { parseVoiceVector } from '../../src/analysis/voiceid/voice-vector.js';
import { VoiceprintList } from '../../src/analysis/voiceid/voiceprint-list.js';
import { parseObject } from '../../src/api/upload/json-body.js';
import { MultipartParser } from '../../src/api/upload/multipart-parser.js';
import { boundaryOf, parsePartHeaders } from '../../src/api/upload/part-headers.js';
import { loadAddon } from '../../src/base/addon/addon.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { MAX_VOICE_VECTOR_CHARS, MAX_VOICEPRINTS_BYTES } from '../../src/base/contract/limits.js';
import { ServiceError } from '../../src/base/errors/service-error.js';
import { ManifestReader } from '../../src/jobs/batches/manifest-reader.js';
import { S3Storage } from '../../src/state/storage/s3-storage.js';
import { someSpeakerModel } from './analyser-double.js';
import { startFakeStorage } from './fake-storage.js';

type InputParts = readonly [start: string | Buffer, unit: string | Buffer, end?: string | Buffer];

export interface Reader {
  readonly name: string;
  /** Size of the largest input to try: the reader's limit, or enough to measure. */
  readonly bytes: number;
  /** Inputs by name: their beginning, the repeated part, and their end. */
  readonly inputs: Readonly<Record<string, InputParts>>;
  /** Refusals are fine. */
  readonly open: (t: TestContext) => Promise<(input: Buffer) => unknown>;
}

const KIB = 1024;
const MIB = 1024 * KIB;

export const inputOf = ([start, unit, end = '']: InputParts, bytes: number): Buffer => {
  const times = Math.floor((bytes - start.length - end.length) / Buffer.byteLength(unit));
  return Buffer.concat([
    Buffer.from(start),
    Buffer.alloc(times * Buffer.byteLength(unit), unit),
    Buffer.from(end),
  ]);
};

const BOUNDARY = 'boundary-boundary-boundary';
const FILE = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n`;
const tooLarge = () => new ServiceError('FILE_TOO_LARGE', { allowedBytes: 0, hint: '' });
const formLimits = {
  maxParts: 64,
  maxHeaderBytes: 16 * KIB,
  maxFieldBytes: 64 * KIB,
  maxFileBytes: 1024 * MIB,
  fileTooLarge: tooLarge,
};

/** As it arrives: in many pieces. */
const parseForm =
  (pieceBytes: number) =>
  (input: Buffer): void => {
    const parser = new MultipartParser(input, BOUNDARY, 'file', formLimits);
    for (let filled = 0; filled < input.length; filled += pieceBytes) parser.advance(filled);
    parser.advance(input.length);
  };

const formInputs: Reader['inputs'] = {
  'half delimiters': [FILE, `\r\n--${BOUNDARY.slice(0, -1)}`],
  'delimiters of longer lines': [FILE, `\r\n--${BOUNDARY}x`],
  'delimiters with much space': [FILE, `\r\n--${BOUNDARY}${' '.repeat(200)}`],
  'nothing but a beginning': ['', '\r\n--'],
};

async function* blocksOf(input: Buffer): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < input.length; at += MIB) yield new Uint8Array(input.subarray(at, at + MIB));
}

async function openManifests(t: TestContext): Promise<(input: Buffer) => unknown> {
  const reader = new ManifestReader();
  t.after(() => reader.close());
  return async (input) => {
    for await (const _ of reader.records(blocksOf(input)));
  };
}

async function openListings(t: TestContext): Promise<(input: Buffer) => unknown> {
  let body: Buffer = Buffer.alloc(0);
  const answer = (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/xml', 'content-length': body.length });
    response.end(body);
  };
  const { origin } = await startFakeStorage(t, (_, response) => answer(response));
  const credentials = { AWS_ACCESS_KEY_ID: 'any', AWS_SECRET_ACCESS_KEY: 'any' };
  Object.assign(process.env, credentials);
  const storage = new S3Storage({
    bucket: 'bucket',
    region: 'eu-central-1',
    endpoint: origin,
    publicUrl: '',
    forcePathStyle: true,
    linkLifetimeS: 60,
    timeouts: { stallTimeoutMs: 60_000, totalTimeoutMs: 600_000 },
  });
  t.after(() => storage.close());
  return (input) => {
    body = input;
    return storage.list('', 1000);
  };
}

const LISTING = '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><Name>bucket</Name>';
const speaker = new Speaker(someSpeakerModel, undefined);
const always =
  (read: (input: Buffer) => unknown): Reader['open'] =>
  async () =>
    read;

const mp3 = readFileSync(path.join(packageDir, 'test/fixtures/human-lj-a.mp3'));
const [firstFrames, moreFrames] = [mp3.subarray(0, 8 * KIB), mp3.subarray(0, 20 * KIB)];
/** Says that the rest of the file belongs to it. */
const endlessId3 = Buffer.concat([Buffer.from('ID3'), Buffer.from([3, 0, 0, 0, 0x7f, 0x7f, 0x7f])]);

export const readers: readonly Reader[] = [
  {
    name: 'an MP3 with what only begins like tags',
    bytes: MIB / 2,
    inputs: {
      'lyrics without an end': [firstFrames, 'LYRICSBEGIN', moreFrames],
      'ID3v2 over frames': [firstFrames, endlessId3, moreFrames],
      'ID3v1 in front of lyrics': [firstFrames, `TAG${'a'.repeat(125)}LYRICSBEGIN`, moreFrames],
    },
    open: async () => {
      const addon = loadAddon();
      return (input) => addon.decode(input);
    },
  },
  {
    name: 'a manifest',
    bytes: 16 * MIB,
    inputs: { spaces: ['', ' '], 'line breaks': ['', '\r\n'] },
    open: openManifests,
  },
  {
    name: 'a manifest in JSON lines',
    bytes: MIB,
    inputs: {
      'empty objects': ['', '{}\n'],
      'no objects': ['{}\n', '0\n'],
      'empty lines': ['{}\n', '\n'],
      'long lines': ['{}\n', `{"key":"${' '.repeat(30_000)}"}\n`],
      'deep lines': ['{}\n', `{"key":${'['.repeat(15_000)}${']'.repeat(15_000)}}\n`],
    },
    open: openManifests,
  },
  {
    name: 'a manifest in CSV',
    bytes: MIB / 2,
    inputs: {
      'tiny records': ['key\n', 'x\n'],
      'empty lines': ['key\n', ' \n'],
      quotes: ['key\n', `"${'""'.repeat(1000)}"\n`],
      spaces: ['key\n', `${' '.repeat(30_000)}x\n`],
      'wide records': [`${',a'.repeat(1000)},key\n`, `${','.repeat(1001)}\n`],
    },
    open: openManifests,
  },
  { name: 'a form', bytes: 32 * MIB, inputs: formInputs, open: always(parseForm(64 * KIB)) },
  { name: 'a form in small pieces', bytes: 8 * MIB, inputs: formInputs, open: always(parseForm(200)) },
  {
    name: 'headers of a part',
    bytes: formLimits.maxHeaderBytes,
    inputs: {
      lines: ['content-disposition: form-data; name=a\r\n', 'a:b\r\n'],
      'folded lines': ['content-disposition: form-data; name=a', '\r\n \t'],
      spaces: ['content-disposition: form-data', ' '],
      semicolons: ['content-disposition: form-data', ';'],
      backslashes: ['content-disposition: form-data; name="', '\\', '"'],
      'escaped quotes': ['content-disposition: form-data; name="', '\\"'],
      'percent signs': ["content-disposition: form-data; name*=utf-8''", '%41'],
    },
    open: always((input) => parsePartHeaders(input.toString())),
  },
  {
    name: 'the type of a form',
    bytes: 16 * KIB,
    inputs: {
      spaces: ['multipart/form-data', ' \t'],
      parameters: ['multipart/form-data; boundary=a', ';a="\\""'],
      backslashes: ['multipart/form-data; boundary="', '\\\\', '"'],
    },
    open: always((input) => boundaryOf(input.toString())),
  },
  {
    name: 'a JSON body',
    bytes: 2 * MIB,
    inputs: {
      'empty objects': ['{"a":[', '{},', '0]}'],
      brackets: ['{"a":', '['],
      spaces: ['{', ' ', '}'],
      escapes: ['{"a":"', '\\u0041', '"}'],
      'a text without end': ['{"a":"', '\\"'],
      numbers: ['{"a":[', '1e308,', '0]}'],
      'one long number': ['{"a":', '1', '}'],
      'the same field': ['{', '"a":0,', '"b":0}'],
    },
    open: always(parseObject),
  },
  {
    name: 'a voice vector',
    bytes: MAX_VOICE_VECTOR_CHARS,
    inputs: {
      base64: ['', 'AAAA'],
      spaces: ['', ' '],
      'spaced base64': ['', 'A ', '='],
      numbers: ['[', '0.1234567890123456789,', '1]'],
      brackets: ['', '['],
    },
    open: always((input) => parseVoiceVector(input.toString())),
  },
  {
    name: 'a list of voiceprints',
    bytes: MAX_VOICEPRINTS_BYTES,
    inputs: {
      spaces: ['[', ' ', ']'],
      'empty objects': ['[', '{},', '{}]'],
      brackets: ['', '['],
      'other fields': ['[{', '"a":"",', '"id":"a"}]'],
      escapes: ['[{"id":"', '\\u0041', '"}]'],
    },
    open: always((input) => VoiceprintList.checked(input, speaker)),
  },
  {
    name: 'a listing of a bucket',
    bytes: 2 * MIB,
    inputs: {
      objects: [LISTING, '<Contents><Key>a</Key><Size>1</Size></Contents>', '</ListBucketResult>'],
      spaces: [LISTING, ' \n', '</ListBucketResult>'],
      // The longest name that a client can make.
      entities: [
        LISTING,
        `<Contents><Key>${'&amp;'.repeat(1024)}</Key><Size>1</Size></Contents>`,
        '</ListBucketResult>',
      ],
      'other elements': [LISTING, '<a/>', '</ListBucketResult>'],
    },
    open: openListings,
  },
];
