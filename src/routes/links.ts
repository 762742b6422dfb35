// SPDX-License-Identifier: Apache-2.0
import { setImmediate as otherWork } from 'node:timers/promises';
import type { Config } from '../config/options.js';
import { type DeletedFiles, deletedFiles } from '../contract/deleted-files.js';
import { jsonErrors, storageErrors } from '../contract/error-groups.js';
import {
  type DeletionFields,
  type DownloadLinkFields,
  deletionSchemas,
  downloadLinkSchemas,
  type UploadLinkFields,
  uploadLinkSchemas,
} from '../contract/file-fields.js';
import { MAX_LEGACY_FILE_BYTES, MAX_LINKS } from '../contract/limits.js';
import { type LinkList, linkList as linkListSchema } from '../contract/link-list.js';
import type { Operation } from '../contract/operation.js';
import { ServiceError } from '../errors/service-error.js';
import type { LinkTerms } from '../storage/object-storage.js';
import type { FileStore } from '../storage/open-storage.js';
import { receiveJson } from '../upload/json-body.js';
import { FieldValidator } from './form-fields.js';
import { queryValues, refuseUnstorableKey } from './link-fields.js';
import { type ApiVersion, jsonReply, type Reply, type Route, type RouteRequest } from './route.js';

/** Room for 100 keys of 512 bytes, each of them written as an escape. */
const MAX_JSON_BYTES = 512 * 1024;
/** Signing costs up to a millisecond; after so many, other requests get their turn. */
const LINKS_PER_TURN = 8;

const bases: readonly [path: string, version: ApiVersion][] = [
  ['/v1/file', 'v1'],
  ['/v0/file', 'v0'],
  ['/file', 'v0'],
];

const uploadOperation: Operation = {
  id: 'createUploadLinks',
  tag: 'Files',
  summary: 'Links for uploading files, by PUT.',
  description: 'A PUT of the bytes to a link stores them; it takes no key and no other header.',
  json: {
    schemas: uploadLinkSchemas,
    required: ['keys', 'entity'],
    example: { keys: ['recording.wav'], entity: 'analysis' },
  },
  answers: { 200: { description: 'A link for each key.', schema: linkListSchema } },
  errors: [...jsonErrors, 'FIELD_INVALID', ...storageErrors],
};

const downloadOperation = (maxBytes: number | undefined): Operation => ({
  id: 'getDownloadLinks',
  tag: 'Files',
  summary: 'Links for downloading stored files, by GET.',
  description: 'A link takes no key. It can also be the `presigned_url` of a prediction.',
  query: {
    schemas: downloadLinkSchemas,
    required: ['key_prefix', 'entity'],
    example: { key_prefix: 'recording', entity: 'analysis' },
  },
  answers: {
    200: { description: `A link for each object, ${MAX_LINKS} at most.`, schema: linkListSchema },
  },
  errors: [
    'FIELD_INVALID',
    'FIELD_REPEATED',
    ...(maxBytes === undefined ? [] : (['FILE_TOO_LARGE_LEGACY'] as const)),
    ...storageErrors,
  ],
});

const deletionOperation: Operation = {
  id: 'deleteFiles',
  tag: 'Files',
  summary: 'Deletes stored files for good.',
  query: {
    schemas: deletionSchemas,
    required: ['key', 'entity'],
    example: { key: ['recording.wav'], entity: 'analysis' },
  },
  answers: {
    200: { description: 'The files are deleted. A name without a file is no error.', schema: deletedFiles },
  },
  errors: ['FIELD_INVALID', 'FIELD_REPEATED', ...storageErrors],
};

/**
 * `POST /file` and `GET /file`, in each version: presigned links for sending and fetching files; and `DELETE /file`, in the
 * current one.
 */
export function linkRoutes(config: Config, files: FileStore): Route[] {
  return bases.flatMap(([path, version]) => {
    const maxBytes = version === 'v0' ? MAX_LEGACY_FILE_BYTES : undefined;
    const common = { path, version, scope: 'file', wantsHeaders: true } as const;
    return [
      {
        ...common,
        method: 'POST',
        operation: uploadOperation,
        handle: uploadLinks(config, files, maxBytes),
      },
      {
        ...common,
        method: 'GET',
        operation: downloadOperation(maxBytes),
        handle: downloadLinks(files, maxBytes),
      },
      ...(version === 'v1'
        ? [
            {
              ...common,
              method: 'DELETE',
              operation: deletionOperation,
              handle: deletion(files),
            } as const,
          ]
        : []),
    ];
  });
}

function uploadLinks(config: Config, { storage, folderOf }: FileStore, maxBytes: number | undefined) {
  const validator = new FieldValidator<UploadLinkFields>(uploadLinkSchemas, ['keys', 'entity']);
  const limits = { maxBytes: MAX_JSON_BYTES, receiveTimeoutMs: config.receiveTimeoutMs };
  return async (request: RouteRequest): Promise<Reply> => {
    const body = await receiveJson(request.body, request.contentType, limits);
    const { keys, entity } = validator.check(body);
    keys.forEach((key, i) => {
      refuseUnstorableKey(`keys[${i}]`, key);
    });
    const folder = folderOf(accountOf(request));
    const terms = linkTerms(request, maxBytes);
    const names = keys.map((key) => `${entity}/${key}`);
    return linkList(names, (name) => storage.presignPut(`${folder}/${name}`, terms));
  };
}

function downloadLinks({ storage, folderOf }: FileStore, maxBytes: number | undefined) {
  const validator = new FieldValidator<DownloadLinkFields>(downloadLinkSchemas, ['key_prefix', 'entity']);
  return async (request: RouteRequest): Promise<Reply> => {
    const { key_prefix, entity } = validator.check(queryValues(request.query, downloadLinkSchemas));
    refuseUnstorableKey('key_prefix', key_prefix);
    const folder = folderOf(accountOf(request));
    const terms = linkTerms(request, maxBytes);
    const objects = await storage.list(`${folder}/${entity}/${key_prefix}`, MAX_LINKS);
    if (maxBytes !== undefined && objects.some(({ bytes }) => bytes > maxBytes))
      throw new ServiceError('FILE_TOO_LARGE_LEGACY', { allowedBytes: maxBytes });
    const names = objects.map(({ name }) => name.slice(folder.length + 1));
    return linkList(names, (name) => storage.presignGet(`${folder}/${name}`, terms));
  };
}

function deletion({ storage, folderOf }: FileStore) {
  const validator = new FieldValidator<DeletionFields>(deletionSchemas, ['key', 'entity']);
  return async (request: RouteRequest): Promise<Reply> => {
    const { key, entity } = validator.check(queryValues(request.query, deletionSchemas));
    key.forEach((one, i) => {
      refuseUnstorableKey(`key[${i}]`, one);
    });
    const folder = folderOf(accountOf(request));
    const deleted = [...new Set(key)].map((one) => `${entity}/${one}`);
    for (const name of deleted) await storage.remove(`${folder}/${name}`);
    return jsonReply<DeletedFiles>(200, { deleted });
  };
}

async function linkList(keys: readonly string[], sign: (key: string) => Promise<string>): Promise<Reply> {
  const url: LinkList['url'][number][] = [];
  for (const key of keys) {
    if (url.length % LINKS_PER_TURN === LINKS_PER_TURN - 1) await otherWork();
    url.push({ key, value: await sign(key) });
  }
  return jsonReply<LinkList>(200, { url });
}

function accountOf({ caller }: RouteRequest): string {
  if (caller === undefined) throw new Error('A request without a key reached /file. This is a bug.');
  return caller.account;
}

function linkTerms({ headers }: RouteRequest, maxBytes: number | undefined): LinkTerms {
  const requestHost = headers.get('host') ?? '';
  if (!/^[\w.-]+(:\d+)?$|^\[[0-9a-f:.]+\](:\d+)?$/i.test(requestHost)) {
    throw new ServiceError('FIELD_INVALID', {
      field: 'the host header',
      expected: 'a host name or an address',
      received: JSON.stringify(requestHost),
    });
  }
  return { requestHost, ...(maxBytes !== undefined && { maxBytes }) };
}
