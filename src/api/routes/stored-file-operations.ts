// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import { signatureErrors } from '../../base/contract/error-groups.js';
import type { Operation } from '../../base/contract/operation.js';

const description =
  'Where links of the embedded storage lead. Their query carries the signature; errors are XML, as S3 writes it.';
const forPrograms = 'for S3 programs with the credentials of the storage';
const file = { contentType: 'application/octet-stream' };
const xml = { contentType: 'application/xml' };

const listErrors = [...signatureErrors, 'OBJECT_NOT_FOUND', 'STORAGE_FAILED'] as const;
const xmlErrors = [
  'OBJECT_DIGEST_MISMATCH',
  'OBJECT_HASH_MISMATCH',
  'OBJECT_CHUNKS_INVALID',
  'OBJECT_XML_INVALID',
  'BODY_TOO_LARGE',
  'RECEIVE_TIMEOUT',
  'RECEIVE_TOO_SLOW',
] as const;
const storingErrors = [
  'OBJECT_TOO_LARGE',
  'OBJECT_UPLOAD_NOT_FOUND',
  'ACCOUNT_QUOTA_EXCEEDED',
  'STORAGE_FULL',
] as const;

export const objectOperations = ({ maxObjectBytes }: Config) =>
  ({
    PUT: {
      id: 'putObject',
      tag: 'Files',
      summary: 'Uploads one file through a link.',
      description,
      bytes: { description: 'The file.', maxBytes: maxObjectBytes },
      answers: {
        200: { description: 'It is stored; `etag` holds its MD5. Copies answer with XML.', ...xml },
      },
      errors: [
        ...listErrors,
        ...storingErrors,
        'OBJECT_DIGEST_MISMATCH',
        'OBJECT_HASH_MISMATCH',
        'OBJECT_CHUNKS_INVALID',
        'OBJECT_RANGE_INVALID',
        'OBJECT_OTHER_ETAG',
        'FILE_TOO_LARGE_LEGACY',
        'RECEIVE_TIMEOUT',
        'RECEIVE_TOO_SLOW',
        'TOO_MANY_JOBS',
        'DATABASE_UNAVAILABLE',
      ],
    },
    GET: {
      id: 'getObject',
      tag: 'Files',
      summary: 'Downloads one file through a link.',
      description,
      answers: {
        200: { description: 'The file.', ...file },
        206: { description: 'The part of it that the header `range` asks for.', ...file },
        304: { description: 'The client has it as it is, by `if-none-match` or `if-modified-since`.' },
      },
      errors: [...listErrors, 'OBJECT_RANGE_INVALID', 'OBJECT_OTHER_ETAG', 'FILE_TOO_LARGE_LEGACY'],
    },
    POST: {
      id: 'postObject',
      tag: 'Files',
      summary: `Begins or completes an upload in parts, ${forPrograms}.`,
      description,
      answers: { 200: { description: 'The id of the upload, or the ETag of the file.', ...xml } },
      errors: [...listErrors, ...storingErrors, ...xmlErrors, 'OBJECT_PART_INVALID'],
    },
    DELETE: {
      id: 'deleteObject',
      tag: 'Files',
      summary: `Deletes one file, or an upload in parts, ${forPrograms}.`,
      description,
      answers: { 204: { description: 'The file is deleted, or there was none.' } },
      errors: [...listErrors, 'OBJECT_UPLOAD_NOT_FOUND'],
    },
  }) satisfies Record<string, Operation>;

export const bucketOperations = {
  GET: {
    id: 'listObjects',
    tag: 'Files',
    summary: `Lists files of one account and entity, ${forPrograms}.`,
    description: 'ListObjects and ListObjectsV2 of S3, and what programs ask about the bucket.',
    answers: { 200: { description: 'Names in order, with sizes.', ...xml } },
    errors: listErrors,
  },
  PUT: {
    id: 'createBucket',
    tag: 'Files',
    summary: `Does nothing, as the bucket is always there, ${forPrograms}.`,
    description,
    answers: { 200: { description: 'The bucket is there.' } },
    errors: listErrors,
  },
  POST: {
    id: 'deleteObjects',
    tag: 'Files',
    summary: `Deletes up to 1,000 files, ${forPrograms}.`,
    description,
    answers: { 200: { description: 'The names of the deleted files.', ...xml } },
    errors: [...listErrors, ...xmlErrors],
  },
  DELETE: {
    id: 'deleteBucket',
    tag: 'Files',
    summary: `Is refused, ${forPrograms}.`,
    description,
    answers: {},
    errors: listErrors,
  },
} satisfies Record<string, Operation>;
