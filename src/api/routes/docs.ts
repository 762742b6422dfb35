// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { packageDir } from '../../base/config/package-dir.js';
import type { Answer, Operation } from '../../base/contract/operation.js';
import { once } from '../../base/once.js';
import { type Headers, JSON_TYPE, type Reply, type Route } from './route.js';
import { TaggedText } from './tagged-text.js';

/** `npm run build:ts` puts the files of Swagger UI that the page needs here. */
const assetDir = path.join(packageDir, 'dist/docs-page');

const start = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  displayRequestDuration: true,
  // No question to an online validator.
  validatorUrl: null,
});`;

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>veravox</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script>${start}</script>
</body>
</html>
`;

const startHash = createHash('sha256').update(start).digest('base64');

/** Everything comes from this server, and nothing goes anywhere else: no network, fonts or telemetry. */
const pageHeaders: Headers = [
  [
    'content-security-policy',
    `default-src 'none'; script-src 'self' 'sha256-${startHash}'; style-src 'self'; img-src 'self' data:; ` +
      "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ],
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
];

const operation = (id: string, summary: string, answer: Omit<Answer, 'description'>): Operation => ({
  id,
  tag: 'Operation',
  summary,
  answers: { 200: { description: summary, ...answer } },
  errors: [],
});

/** Read once: every reader shares the bytes. */
const assets = new Map<string, Promise<Uint8Array>>();

function readAsset(name: string): Promise<Uint8Array> {
  const known = assets.get(name);
  if (known !== undefined) return known;
  const reading = fs.promises.readFile(path.join(assetDir, name));
  assets.set(name, reading);
  // A file that is put there later is found.
  reading.catch(() => assets.delete(name));
  return reading;
}

function assetRoute(name: string, contentType: string): Route {
  return {
    method: 'GET',
    path: `/docs/${name}`,
    isForOperators: true,
    operation: operation(`docs-${name}`, 'A part of the documentation page.', { contentType }),
    handle: async (): Promise<Reply> => ({
      status: 200,
      contentType: `${contentType}; charset=utf-8`,
      body: await readAsset(name),
      headers: [
        ['x-content-type-options', 'nosniff'],
        ['cache-control', 'max-age=3600'],
      ],
    }),
  };
}

const pageRoute: Route = {
  method: 'GET',
  path: '/docs',
  isForOperators: true,
  operation: operation('docs', 'This documentation as a page that works offline.', {
    contentType: 'text/html',
  }),
  handle: () => ({ status: 200, contentType: 'text/html; charset=utf-8', body: page, headers: pageHeaders }),
};

/**
 * The routes that show the document: as it is, and as a page.
 * @param document called for the first reader
 */
export function docsRoutes(document: () => object): readonly Route[] {
  const text = once(() => new TaggedText(JSON.stringify(document()), JSON_TYPE));
  const openApiRoute: Route = {
    method: 'GET',
    path: '/openapi.json',
    operation: operation('openapi', 'This documentation as an OpenAPI 3.1 document.', {
      schema: { type: 'object' },
    }),
    wantsHeaders: true,
    handle: ({ headers }) => text().reply(headers, 'no-cache'),
  };
  return [
    openApiRoute,
    pageRoute,
    assetRoute('swagger-ui.css', 'text/css'),
    assetRoute('swagger-ui-bundle.js', 'text/javascript'),
  ];
}
