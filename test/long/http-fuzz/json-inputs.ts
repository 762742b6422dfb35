// SPDX-License-Identifier: Apache-2.0
import { framed } from './framing.js';
import { head, type Input, type Surroundings } from './input.js';
import { mutateBytes } from './mutate-bytes.js';
import { oddHeaderValue, oddJson, oddText } from './odd-values.js';
import type { Random } from './random.js';

const predictPaths = ['/v1/predict', '/v0/predict', '/predict'];
const filePaths = ['/v1/file', '/v0/file', '/file'];
const extraMembers = [
  'threshold',
  'silence_threshold',
  'model',
  'prediction_id',
  'device',
  'user_id',
  '__proto__',
  'a',
];

/** A link to the server's own storage, slightly altered. */
function bentLink(random: Random, link: string): string {
  const url = new URL(link);
  return random.weighted<() => string>([
    [2, () => link],
    [4, () => mutateBytes(Buffer.from(link), random, [Buffer.from(link)]).toString('latin1')],
    [
      1,
      () =>
        link.replace(
          '127.0.0.1',
          random.pick(['2130706433', '0x7f.1', '[::1]', 'localhost', '169.254.169.254', '127.1']),
        ),
    ],
    [
      1,
      () => link.replace('http:', random.pick(['https:', 'file:', 'gopher:', 'HTTP:', '', 'data:', 'ftp:'])),
    ],
    [1, () => link.replace('//', random.pick(['//user:pw@', '//evil@', '///', '\\\\', '/']))],
    [1, () => link.replace(url.port, random.pick(['1', '0', '65536', '-1', '22', '']))],
    [
      1,
      () =>
        link.replace(
          url.pathname,
          random.pick(['/livez', '/veravox/../livez', '/veravox/%2e%2e/metrics', '/veravox/']),
        ),
    ],
    [1, () => `${link}${oddText(random, 9000)}`],
  ])();
}

function bodyText(random: Random, isPredict: boolean, surroundings: Surroundings): string {
  const odd = () => oddJson(random);
  const members = isPredict
    ? [
        `"presigned_url":${random.chance(0.6) ? JSON.stringify(bentLink(random, surroundings.downloadLink)) : odd()}`,
      ]
    : [
        `"keys":${random.pick([() => '["fuzz"]', () => `[${odd()},${odd()}]`, odd])()}`,
        `"entity":${random.pick([() => '"analysis"', odd])()}`,
      ];
  while (random.chance(0.4)) members.push(`${JSON.stringify(random.pick(extraMembers))}:${odd()}`);
  if (random.chance(0.1)) members.push(random.pick(members));
  if (random.chance(0.1)) members.splice(random.below(members.length), 1);
  return `${random.chance(0.05) ? '\ufeff' : ''}{${members.join(random.chance(0.05) ? ' ' : ',')}}`;
}

export function jsonInput(random: Random, correlationId: string, surroundings: Surroundings): Input {
  const isPredict = random.chance(0.5);
  const path = random.pick(isPredict ? predictPaths : filePaths);
  let body: Buffer = Buffer.from(bodyText(random, isPredict, surroundings));
  if (random.chance(0.4)) body = mutateBytes(body, random, [body]);
  const contentType = random.chance(0.9)
    ? 'application/json'
    : random.pick([
        'application/json; charset=utf-16',
        'text/json',
        'APPLICATION/JSON ; a=b',
        oddHeaderValue(random),
      ]);
  const headers = [
    ['host', surroundings.host],
    ['x-api-key', surroundings.apiKey],
    ['x-correlation-id', correlationId],
    ['content-type', contentType],
  ] as const;
  return {
    kind: 'json',
    what: `JSON to ${path}`,
    bytes: framed(random, 'POST', path, headers, body),
    isHttp: true,
    correlationId,
    isPrediction: path === '/v1/predict',
    isApi: true,
  };
}

/** `GET /file` with any query, and any other path and method. */
export function queryInput(random: Random, correlationId: string, { apiKey, host }: Surroundings): Input {
  const plain = (text: string) => text.replace(/[^\x21-\x7e]/g, '+');
  const value = () => random.pick([encodeURIComponent, plain])(oddText(random, 1000));
  const names = ['key_prefix', 'entity', 'key_prefix', 'entity', 'a', ''];
  const query = Array.from(
    { length: random.below(5) },
    () => `${random.pick(names)}${random.pick(['=', '=', '=', ''])}${value()}`,
  );
  const path = random.weighted([
    [6, random.pick(filePaths)],
    [1, `/${value()}`],
    [
      1,
      random.pick([
        '/v1/predict',
        '/openapi.json',
        '/livez',
        '/readyz',
        '/docs',
        '/docs/',
        '/v1/file/',
        '/V1/file',
      ]),
    ],
  ]);
  const method = random.weighted([
    [12, 'GET'],
    [1, 'HEAD'],
    [1, 'OPTIONS'],
    [1, 'DELETE'],
    [1, 'PATCH'],
  ]);
  // With the longest key within the 4 KiB of a head.
  const target = `${path}?${query.join('&')}`.slice(0, 2000);
  const headers = [
    ['host', host],
    ['x-api-key', random.chance(0.9) ? apiKey : oddHeaderValue(random)],
    ['x-correlation-id', correlationId],
  ] as const;
  return {
    kind: 'query',
    what: `${method} ${path.slice(0, 60)}`,
    bytes: Buffer.from(head(method, target, headers), 'latin1'),
    isHttp: true,
    correlationId,
    toHead: method === 'HEAD',
    isApi: true,
  };
}
