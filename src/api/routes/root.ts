// SPDX-License-Identifier: Apache-2.0
import { signatureErrors } from '../../base/contract/error-groups.js';
import type { EmbeddedStorage } from '../../state/storage/embedded-storage.js';
import { listBuckets } from './bucket-requests.js';
import type { Headers, Route } from './route.js';
import { s3Refusal } from './s3-refusal.js';

const headers: Headers = [
  [
    'content-security-policy',
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ],
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
];

const vary = ['vary', 'accept'] as const;

const isSigned = (headers: ReadonlyMap<string, string>): boolean =>
  headers.get('authorization')?.startsWith('AWS4-') === true;

const page = (links: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>veravox</title>
<link rel="icon" href="data:,">
</head>
<body>
<h1>veravox</h1>
<p>This server tells human from AI-generated voices. It is used by programs, with an API key.</p>
<ul>
${links}
</ul>
</body>
</html>
`;

const documentation = '<li><a href="docs">Documentation</a></li>\n';
const machineReadable = '<li><a href="openapi.json">OpenAPI document</a></li>';

/**
 * For browsers at the server's address: the dashboard, or else a page with links.
 * @param hasDocs and `hasDashboard`: on the same address
 * @param storage that S3 programs find by its list of buckets, at the same path
 */
export function rootRoute(
  { hasDocs, hasDashboard }: Record<'hasDocs' | 'hasDashboard', boolean>,
  storage?: EmbeddedStorage | undefined,
): Route {
  const body = page(`${hasDocs ? documentation : ''}${machineReadable}`);
  return {
    method: 'GET',
    path: '/',
    ...((hasDashboard || storage) && { wantsHeaders: true }),
    refusal: (failure, correlationId, headers) =>
      isSigned(headers) ? s3Refusal(failure, correlationId, headers) : undefined,
    operation: {
      id: 'root',
      tag: 'Operation',
      summary: 'Where the documentation is, for a browser.',
      answers: { 200: { description: 'A page with links.', contentType: 'text/html' } },
      errors: signatureErrors,
    },
    handle(request) {
      const { headers: asked } = request;
      if (storage && isSigned(asked)) return listBuckets(storage, request);
      if (hasDashboard && asked.get('accept')?.includes('text/html')) {
        return { status: 302, contentType: '', body: '', headers: [['location', 'dashboard/'], vary] };
      }
      return {
        status: 200,
        contentType: 'text/html; charset=utf-8',
        body,
        headers: hasDashboard ? [...headers, vary] : headers,
      };
    },
  };
}
