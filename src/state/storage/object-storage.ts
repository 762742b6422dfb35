// SPDX-License-Identifier: Apache-2.0
//
// This room stores clients' files, in the data folder or in an S3 bucket, behind one interface, and signs
// and checks the links to them.
import type { ByteSource } from '../../base/byte-source/byte-source.js';
import type { LinkOwner } from './link-owner.js';

/** The terms of a link, in addition to its method and its object. */
export interface LinkTerms {
  /** The `host` header of the request that asks for the link: its client's name for this server. */
  readonly requestHost: string;
  /** Larger objects are refused by the link itself, if the storage can do that. */
  readonly maxBytes?: number;
  /** The owner of the upload, for storages that tell this server when it has arrived. */
  readonly owner?: LinkOwner;
}

export interface StoredObject {
  readonly name: string;
  readonly bytes: number;
}

/** The store of files that clients send and fetch through presigned links. Names are `<account's folder>/<entity>/<key>`. */
export interface ObjectStorage {
  presignPut(name: string, terms: LinkTerms): Promise<string>;
  presignGet(name: string, terms: LinkTerms): Promise<string>;
  /** Stores an object of this server's own making, whole or not at all. @throws ServiceError as the storage's uploads do */
  write(name: string, bytes: Uint8Array): Promise<void>;
  /** The same for one whose size is not known before, in bounded memory. */
  writeFrom(name: string, pieces: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<void>;
  /** Removes an object for good; no object is no error. @throws ServiceError STORAGE_UNAVAILABLE, STORAGE_FAILED */
  remove(name: string): Promise<void>;
  /**
   * Objects whose names start with `prefix`, in the order of their names' bytes.
   * @param keep told how much memory the list takes while it comes; an error from it ends the list
   * @throws ServiceError STORAGE_UNAVAILABLE
   */
  list(prefix: string, limit: number, keep?: (bytes: number) => void): Promise<StoredObject[]>;
  /** An object to be read in ranges. @throws ServiceError OBJECT_NOT_FOUND, STORAGE_UNAVAILABLE, STORAGE_FAILED */
  openSource(name: string): Promise<ByteSource>;
  /** Whether it has made this link, as far as the link itself tells: it may name any host. */
  isOwnLink(link: URL): boolean;
  /**
   * The name of the object behind a link of its own, which need not exist. Undefined if only a request can tell whether the link is good.
   * @throws ServiceError as SignatureCheck.check does, OBJECT_NOT_FOUND
   */
  nameBehind(link: URL): Promise<string | undefined>;
  /** The beginnings of links, up to a slash, as far as known. @param port the one that this server listens on */
  linkPrefixes(port: number): string[];
  /** Waits for unfinished writes. */
  close(): Promise<void>;
}
