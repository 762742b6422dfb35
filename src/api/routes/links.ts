// SPDX-License-Identifier: Apache-2.0
import { setImmediate as otherWork } from 'node:timers/promises';
import type { Config } from '../../base/config/options.js';
import type { DeletedFiles } from '../../base/contract/deleted-files.js';
import {
  deletionEndpoint,
  downloadLinksEndpoint,
  linkBases,
  uploadLinksEndpoint,
} from '../../base/contract/file-endpoints.js';
import {
  ANALYSIS_ENTITY,
  type DeletionFields,
  type DownloadLinkFields,
  deletionRequest,
  downloadLinkRequest,
  type UploadLinkFields,
  uploadLinkRequest,
} from '../../base/contract/file-fields.js';
import { MAX_LEGACY_FILE_BYTES, MAX_LINKS } from '../../base/contract/limits.js';
import type { LinkList } from '../../base/contract/link-list.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { traced } from '../../base/tracing/traced.js';
import type { LinkOwner } from '../../state/storage/link-owner.js';
import type { LinkTerms } from '../../state/storage/object-storage.js';
import type { FileStore } from '../../state/storage/open-storage.js';
import { receiveJson } from '../upload/json-body.js';
import { FieldValidator } from './form-fields.js';
import { queryValues, refuseUnstorableKey } from './link-fields.js';
import { callerOf, jsonReply, type Reply, type Route, type RouteRequest } from './route.js';

/**
 * Called with the whole names of objects with the entity `analysis` before links to send them are given out.
 * @throws ServiceError TOO_MANY_UPLOADS, DatabaseError
 */
export type OnUploadLinks = (names: readonly string[], owner: LinkOwner) => Promise<void>;

/** Room for 100 keys of 512 bytes, each of them written as an escape. */
const MAX_JSON_BYTES = 512 * 1024;
/** Signing costs up to a millisecond; after this many, other requests get their turn. */
const LINKS_PER_TURN = 8;

/**
 * `POST /file` and `GET /file`, in each version: presigned links for sending and fetching files; and `DELETE /file`, in the
 * current one.
 */
export function linkRoutes(config: Config, files: FileStore, onUploadLinks?: OnUploadLinks): Route[] {
  return linkBases.flatMap(([path, version]): Route[] => {
    const maxBytes = version === 'v0' ? MAX_LEGACY_FILE_BYTES : undefined;
    const upload = uploadLinks(config, files, maxBytes, onUploadLinks);
    const download = downloadLinks(files, maxBytes);
    return [
      { ...uploadLinksEndpoint(path, version), wantsHeaders: true, handle: upload },
      { ...downloadLinksEndpoint(path, version), wantsHeaders: true, handle: download },
      ...(version === 'v1' ? [{ ...deletionEndpoint(path), handle: deletion(files) }] : []),
    ];
  });
}

function uploadLinks(
  config: Config,
  { storage, folderOf }: FileStore,
  maxBytes: number | undefined,
  onUploadLinks?: OnUploadLinks,
) {
  const validator = new FieldValidator<UploadLinkFields>(uploadLinkRequest);
  const limits = { maxBytes: MAX_JSON_BYTES, receiveTimeoutMs: config.receiveTimeoutMs };
  return async (request: RouteRequest): Promise<Reply> => {
    const body = await receiveJson(request.body, request.contentType, limits);
    validator.note(request, body);
    const { keys, entity } = validator.fromJson(body);
    keys.forEach((key, i) => {
      refuseUnstorableKey(`keys[${i}]`, key);
    });
    const caller = callerOf(request);
    const folder = folderOf(caller.account);
    const owner: LinkOwner | undefined = entity === ANALYSIS_ENTITY ? caller : undefined;
    const terms = { ...linkTerms(request, maxBytes), ...(owner && { owner }) };
    const names = keys.map((key) => `${entity}/${key}`);
    if (owner !== undefined) {
      await onUploadLinks?.(
        names.map((name) => `${folder}/${name}`),
        owner,
      );
    }
    return linkList(names, (name) => storage.presignPut(`${folder}/${name}`, terms));
  };
}

function downloadLinks({ storage, folderOf }: FileStore, maxBytes: number | undefined) {
  const validator = new FieldValidator<DownloadLinkFields>(downloadLinkRequest);
  return async (request: RouteRequest): Promise<Reply> => {
    const { key_prefix, entity } = validator.check(queryValues(request.query, downloadLinkRequest.schemas));
    refuseUnstorableKey('key_prefix', key_prefix);
    const folder = folderOf(callerOf(request).account);
    const terms = linkTerms(request, maxBytes);
    const objects = await traced(request.record.trace, 'storage', 'client', () =>
      storage.list(`${folder}/${entity}/${key_prefix}`, MAX_LINKS, (bytes) => request.body.keep(bytes)),
    );
    if (maxBytes !== undefined && objects.some(({ bytes }) => bytes > maxBytes))
      throw new ServiceError('FILE_TOO_LARGE_LEGACY', { allowedBytes: maxBytes });
    const names = objects.map(({ name }) => name.slice(folder.length + 1));
    return linkList(names, (name) => storage.presignGet(`${folder}/${name}`, terms));
  };
}

function deletion({ storage, folderOf }: FileStore) {
  const validator = new FieldValidator<DeletionFields>(deletionRequest);
  return async (request: RouteRequest): Promise<Reply> => {
    const { key, entity } = validator.check(queryValues(request.query, deletionRequest.schemas));
    key.forEach((one, i) => {
      refuseUnstorableKey(`key[${i}]`, one);
    });
    const folder = folderOf(callerOf(request).account);
    const deleted = [...new Set(key)].map((one) => `${entity}/${one}`);
    await traced(request.record.trace, 'storage', 'client', async () => {
      for (const name of deleted) await storage.remove(`${folder}/${name}`);
    });
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
