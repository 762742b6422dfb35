// SPDX-License-Identifier: Apache-2.0
import { chunked, type FormPart, fieldPart, filePart, formBytes, framed } from './framing.js';
import { type HeaderLine, head, type Input, type Surroundings } from './input.js';
import { formType } from './media-inputs.js';
import { mutateBytes } from './mutate-bytes.js';
import { oddHeaderValue, oddText, oddVector } from './odd-values.js';
import type { Random } from './random.js';
import type { SeedFiles } from './seed-files.js';

const paths = [
  '/v1/predict',
  '/v1/predict',
  '/v0/predict',
  '/v1/voiceid/enroll',
  '/v1/voiceid/verify',
  '/v1/voiceid/search',
  '/v1/predict/large-file',
];
const fields = [
  'threshold',
  'silence_threshold',
  'model',
  'prediction_id',
  'device',
  'user_id',
  'filename',
  'voice_vector',
  'voiceprints',
  'top',
  'prior',
];

const oddBoundaries = [
  ...['b', '-', '--', '----', "a'()+_,-./:=?", 'a b', 'a ', '.*', '$', '(a+)+$', 'ü', '"', '0'],
  ...['x'.repeat(70), 'x'.repeat(71), 'x'.repeat(500), '-'.repeat(70)],
];

function oddPartHead(random: Random): string {
  const name = random.pick(['file', 'audio_file', 'threshold', '', 'fi le', 'FILE', 'a'.repeat(300), 'ü']);
  const disposition = random.pick<string>([
    'form-data',
    `form-data; name=${name}`,
    `form-data; name="${name}`,
    `form-data; name="${name}"; name="file"`,
    `form-data; name="${name}"; filename="a\\"b.wav"`,
    `form-data; name="${name}"; filename*=UTF-8''%e2%82`,
    `form-data; name="${name}"; filename*=utf-8'en'%zz`,
    `form-data; name*=UTF-8''file; filename=a`,
    `form-data; name="${name}"; filename=""`,
    `form-data; name="${name}"${' '.repeat(random.pick([10, 4000, 8100]))}`,
    `form-data${';'.repeat(random.pick([10, 4000]))} name="${name}"`,
    `form-data; ${'a="b"; '.repeat(random.pick([10, 1000]))} name="${name}"`,
    `attachment; name="${name}"`,
    `form-data; name="${oddText(random, 8193)}"`,
    'form-data; name="a\0b"; filename="\0"',
  ]);
  const lines = [`Content-Disposition: ${disposition}`];
  if (random.chance(0.4)) {
    const line = random.pick([
      'Content-Type: text/plain; charset=utf-16',
      'Content-Transfer-Encoding: base64',
      'Content-Transfer-Encoding: 8BIT',
      'Content-Disposition: form-data; name="file"; filename="b"',
      'no colon',
      ' folded',
      ': no name',
      `X-Long: ${'a'.repeat(random.pick([100, 8000, 9000]))}`,
      'Content-Length: 99999999999',
    ]);
    lines.splice(random.below(2), 0, line);
  }
  return lines.join(random.chance(0.9) ? '\r\n' : '\n');
}

function oddPart(random: Random): FormPart {
  return random.weighted<() => FormPart>([
    [4, () => fieldPart(random.pick(fields), oddText(random))],
    [1, () => fieldPart('voice_vector', oddVector(random))],
    [
      1,
      () =>
        fieldPart(
          'voiceprints',
          `[{"id":"a","voice_vector":${oddVector(random)}}${random.pick([']', ',', ']x'])}`,
        ),
    ],
    [3, () => ({ head: oddPartHead(random), content: Buffer.from(oddText(random, 600)) })],
    [1, () => filePart(random.pick(['file', 'audio_file', 'other']), Buffer.from(oddText(random, 600)))],
  ])();
}

function oddContentType(random: Random, boundary: string): string {
  return random.pick([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    `multipart/form-data; boundary="${boundary}`,
    `multipart/form-data;boundary=${boundary};boundary=other`,
    `multipart/form-data; boundary=other; boundary=${boundary}`,
    `MULTIPART/Form-Data; Boundary="${boundary}"`,
    `multipart/mixed; boundary=${boundary}`,
    `multipart/form-data; charset=utf-16; boundary=${boundary}`,
    `multipart/form-data${' '.repeat(900)}; boundary=${boundary}`,
    `multipart/form-data; ${'a=b; '.repeat(150)}boundary=${boundary}`,
    'application/x-www-form-urlencoded',
    'application/json',
    oddHeaderValue(random),
  ]);
}

/** Damage to the form rather than to the file in it: fields, part headers, delimiters, content type, chunks. */
export function formInput(
  random: Random,
  correlationId: string,
  { apiKey, host }: Surroundings,
  files: SeedFiles,
): Input {
  const path = random.pick(paths);
  const field = path.includes('voiceid') ? 'audio_file' : 'file';
  const file = random.chance(0.3) ? random.pick(files.short).bytes : random.bytes(random.below(300));
  const count = random.chance(0.05) ? 60 + random.below(10) : 1 + random.below(4);
  const parts = Array.from({ length: count }, () => oddPart(random));
  if (random.chance(0.8)) parts.splice(random.below(parts.length + 1), 0, filePart(field, file));
  const isPlain = random.chance(0.6);
  const boundary = isPlain ? 'fuzz' : random.pick(oddBoundaries);
  const plainType = formType.replace(/boundary=.*/, `boundary=${boundary}`).replace(/[^\x20-\x7e]/g, '_');
  const contentType = isPlain || random.chance(0.5) ? plainType : oddContentType(random, boundary);
  let body = formBytes(boundary, parts);
  if (random.chance(0.25)) body = Buffer.concat([Buffer.from(oddText(random, 1000)), body]);
  if (random.chance(0.1)) body = Buffer.concat([body, body]);
  if (random.chance(0.35)) body = mutateBytes(body, random, [body]);
  const headers: HeaderLine[] = [
    ['host', host],
    ['x-api-key', apiKey],
    ['x-correlation-id', correlationId],
    ['content-type', contentType.replace(/[^\x20-\x7e]/g, '_')],
  ];
  const common = {
    kind: 'form',
    what: `form to ${path}`,
    correlationId,
    isPrediction: path === '/v1/predict',
    isApi: true,
  } as const;
  if (random.chance(0.92)) {
    return { ...common, bytes: framed(random, 'POST', path, headers, body), isHttp: true };
  }
  const requestHead = Buffer.from(
    head('POST', path, [...headers, ['transfer-encoding', 'chunked']]),
    'latin1',
  );
  const chunks = mutateBytes(chunked(body.subarray(0, 3000), random), random, [requestHead]);
  return {
    ...common,
    what: `broken chunks to ${path}`,
    bytes: Buffer.concat([requestHead, chunks]),
    isHttp: false,
  };
}
