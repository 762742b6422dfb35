// SPDX-License-Identifier: Apache-2.0
import { deletedFiles } from './deleted-files.js';
import type { ApiVersion, Endpoint } from './endpoint.js';
import { jsonErrors, storageErrors } from './error-groups.js';
import { deletionRequest, downloadLinkRequest, uploadLinkRequest } from './file-fields.js';
import { MAX_LINKS } from './limits.js';
import { linkList } from './link-list.js';

/** The paths for links. Deletion exists only in v1. */
export const linkBases: readonly (readonly [path: string, version: ApiVersion])[] = [
  ['/v1/file', 'v1'],
  ['/v0/file', 'v0'],
  ['/file', 'v0'],
];

export const fileEndpoints = (): readonly Endpoint[] =>
  linkBases.flatMap(([path, version]) => [
    uploadLinksEndpoint(path, version),
    downloadLinksEndpoint(path, version),
    ...(version === 'v1' ? [deletionEndpoint(path)] : []),
  ]);

export const uploadLinksEndpoint = (path: string, version: ApiVersion): Endpoint => ({
  method: 'POST',
  path,
  version,
  scope: 'file',
  operation: {
    id: 'createUploadLinks',
    tag: 'Files',
    summary: 'Create links for uploading files by PUT.',
    description: 'A PUT request to a link stores its body. It needs no key and no other header.',
    json: uploadLinkRequest,
    answers: { 200: { description: 'A link for each key.', schema: linkList } },
    errors: [...jsonErrors, 'FIELD_INVALID', ...storageErrors, 'TOO_MANY_UPLOADS', 'DATABASE_UNAVAILABLE'],
  },
});

export const downloadLinksEndpoint = (path: string, version: ApiVersion): Endpoint => ({
  method: 'GET',
  path,
  version,
  scope: 'file',
  operation: {
    id: 'getDownloadLinks',
    tag: 'Files',
    summary: 'Create links for downloading stored files by GET.',
    description: 'A link needs no key. It can also be the `presigned_url` of a prediction.',
    query: downloadLinkRequest,
    answers: { 200: { description: `A link for each object, at most ${MAX_LINKS}.`, schema: linkList } },
    errors: [
      'FIELD_INVALID',
      'FIELD_REPEATED',
      ...(version === 'v0' ? (['FILE_TOO_LARGE_LEGACY'] as const) : []),
      ...storageErrors,
    ],
  },
});

export const deletionEndpoint = (path: string): Endpoint => ({
  method: 'DELETE',
  path,
  version: 'v1',
  scope: 'file',
  operation: {
    id: 'deleteFiles',
    tag: 'Files',
    summary: 'Delete stored files permanently.',
    query: deletionRequest,
    answers: {
      200: {
        description: 'The files are deleted. A key without a file is not an error.',
        schema: deletedFiles,
      },
    },
    errors: ['FIELD_INVALID', 'FIELD_REPEATED', ...storageErrors],
  },
});
