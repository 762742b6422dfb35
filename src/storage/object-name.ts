// SPDX-License-Identifier: Apache-2.0
import path from 'node:path';

const NAME = /^([0-9a-f]{32})\/([a-z][a-z0-9_-]{0,31})\/([\s\S]+)$/;
export const MAX_KEY_BYTES = 512;
/**
 * What a key, or the start of one, must look like beside its length. `.` and `..` as segments would be resolved by
 * clients before they send the request, so that the signature would not fit.
 */
export const KEY_PATTERN = '(?!/)(?![\\s\\S]*(?:^|/)\\.{1,2}(?:/|$))[^\\p{Cc}\\p{Surrogate}]';
const key = new RegExp(`^${KEY_PATTERN}+$`, 'u');

/** Hexadecimal characters per file or folder name: every file system takes names of this length. */
const PIECE = 120;
const FILE_SUFFIX = '.object';
/** Sorts behind the other suffix, so that names on disk are in the order of the keys that they stand for. */
const FOLDER_SUFFIX = '~';

interface NameParts {
  readonly folder: string;
  readonly entity: string;
  readonly key: string;
}

/** Undefined for what is no name of an object. */
export function parseName(name: string): NameParts | undefined {
  const [, folder = '', entity = '', rest = ''] = NAME.exec(name) ?? [];
  if (!key.test(rest) || Buffer.byteLength(rest) > MAX_KEY_BYTES) return undefined;
  return { folder, entity, key: rest };
}

/**
 * Where an object lies below the objects' folder. Keys are written in hexadecimal: no key leaves its folder, two keys
 * never mean the same file where letter case does not count, and `a` and `a/b` can both be objects.
 */
export function fileOfName({ folder, entity, key }: NameParts): string {
  const hex = Buffer.from(key).toString('hex');
  const pieces = hex.match(new RegExp(`.{1,${PIECE}}`, 'g')) as string[];
  const last = pieces.pop() as string;
  return path.join(folder, entity, ...pieces.map((piece) => piece + FOLDER_SUFFIX), last + FILE_SUFFIX);
}

/** What a file or folder on disk contributes to the hexadecimal form of a key; undefined for what is not ours. */
export function pieceOfEntry(entry: string): { hex: string; isFile: boolean } | undefined {
  const [, hex, suffix] = /^([0-9a-f]+)(\.object|~)$/.exec(entry) ?? [];
  return hex === undefined ? undefined : { hex, isFile: suffix === FILE_SUFFIX };
}
