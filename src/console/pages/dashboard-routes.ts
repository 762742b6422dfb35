// SPDX-License-Identifier: Apache-2.0
//
// This room serves the files of the dashboard, under a content security policy that allows nothing from
// other hosts.
import type { Headers, Reply, Route } from '../../api/routes/route.js';
import { notFound } from '../../base/errors/not-found.js';
import { bodyFor, DashboardFiles } from './dashboard-files.js';

/** Everything comes from this server, and nothing goes anywhere else. Recordings that the page plays are its own blobs. */
const pageHeaders: Headers = [
  [
    'content-security-policy',
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; " +
      "media-src 'self' blob:; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
      "require-trusted-types-for 'script'; trusted-types 'none'",
  ],
  ['permissions-policy', 'microphone=(self), camera=(), geolocation=()'],
  ['cross-origin-opener-policy', 'same-origin'],
];

const PREFIX = '/dashboard/';

/** The pages for people, below `/dashboard/`. They use the API like any other client. */
export function dashboardRoutes(files = new DashboardFiles()): readonly Route[] {
  const operation = (id: string, summary: string) => ({
    id,
    tag: 'Operation' as const,
    summary,
    answers: { 200: { description: summary, contentType: 'text/html' } },
    errors: [],
  });
  return [
    {
      method: 'GET',
      path: PREFIX.slice(0, -1),
      isForOperators: true,
      operation: operation('dashboard-start', 'Leads to the dashboard.'),
      // Relative, since a proxy may have removed a path before it.
      handle: () => ({ status: 308, contentType: '', body: '', headers: [['location', 'dashboard/']] }),
    },
    {
      method: 'GET',
      path: PREFIX,
      isPrefix: true,
      isForOperators: true,
      wantsHeaders: true,
      operation: operation('dashboard', 'The dashboard, and its parts.'),
      handle: async ({ path, headers }): Promise<Reply> => {
        const file = await files.find(path.slice(PREFIX.length) || 'index.html');
        if (file === undefined) throw notFound(path);
        const [encoding, body] = bodyFor(file, headers.get('accept-encoding') ?? '');
        return {
          status: 200,
          contentType: file.contentType,
          body,
          headers: [
            ...pageHeaders,
            ['x-content-type-options', 'nosniff'],
            ['referrer-policy', 'no-referrer'],
            ['vary', 'accept-encoding'],
            ['cache-control', file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache'],
            ...(encoding === 'identity' ? [] : [['content-encoding', encoding] as const]),
          ],
        };
      },
    },
  ];
}
