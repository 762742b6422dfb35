// SPDX-License-Identifier: Apache-2.0
import { framed } from './framing.js';
import { type HeaderLine, head, type Input, type Surroundings } from './input.js';
import { mutateBytes } from './mutate-bytes.js';
import { oddHeaderValue, oddText } from './odd-values.js';
import type { Random } from './random.js';
import type { SeedFiles } from './seed-files.js';

const inTarget = (text: string): string => text.replace(/[^\x21-\x7e]/g, '_').replace(/^\/?/, '/');

function bentTarget(random: Random, target: string): string {
  const [path = '', query = ''] = target.split('?', 2);
  const parameters = query.split('&');
  const at = random.below(parameters.length);
  return random.weighted<() => string>([
    [3, () => target],
    [3, () => inTarget(mutateBytes(Buffer.from(target), random, [Buffer.from(target)]).toString('latin1'))],
    [1, () => `${path}?${parameters.toSpliced(at, 1).join('&')}`],
    [1, () => `${path}?${[...parameters, parameters[at]].join('&')}`],
    [1, () => `${path}?${parameters.toReversed().join('&')}`],
    [
      2,
      () => {
        const [name] = (parameters[at] as string).split('=');
        return `${path}?${parameters.with(at, `${name}=${inTarget(oddText(random, 600))}`).join('&')}`;
      },
    ],
    [1, () => `${path}${random.pick(['/', '/..', '%2f', '//', '%00', '%ff', '?', '%'])}?${query}`],
    [1, () => path],
  ])();
}

const oddHeaders = [
  'range',
  'if-range',
  'content-md5',
  'x-amz-content-sha256',
  'x-amz-date',
  'authorization',
  'expect',
];
const ranges = [
  'bytes=0-',
  'bytes=0-0',
  'bytes=-1',
  'bytes=5-2',
  'bytes=0-1,3-4',
  'bytes=99999999999999999999-',
  'bytes=-0',
];

/** Links in the hands of strangers: links to stored objects, each altered. */
export function linkInput(
  random: Random,
  correlationId: string,
  { uploadLink, downloadLink }: Surroundings,
  files: SeedFiles,
): Input {
  const isUpload = random.chance(0.4);
  const url = new URL(isUpload ? uploadLink : downloadLink);
  const other = random.pick(['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS']);
  const method = random.chance(0.85) ? (isUpload ? 'PUT' : 'GET') : other;
  const target = bentTarget(random, url.pathname + url.search).slice(0, 2000);
  const headers: HeaderLine[] = [
    ['host', random.chance(0.95) ? url.host : `${oddHeaderValue(random).replace(/ /g, '') || 'a'}`],
    ['x-correlation-id', correlationId],
  ];
  if (random.chance(0.4)) {
    const name = random.pick(oddHeaders);
    headers.push([name, name === 'range' ? random.pick(ranges) : oddHeaderValue(random)]);
  }
  const body = random.chance(0.5) ? random.bytes(random.below(300)) : random.pick(files.short).bytes;
  const hasBody = method === 'PUT' || method === 'POST';
  return {
    kind: 'link',
    what: `${method} of a link`,
    bytes: hasBody
      ? framed(random, method, target, headers, body)
      : Buffer.from(head(method, target, headers), 'latin1'),
    isHttp: true,
    correlationId,
    toHead: method === 'HEAD',
    isApi: false,
  };
}
