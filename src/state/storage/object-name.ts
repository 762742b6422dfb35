// SPDX-License-Identifier: Apache-2.0
import path from 'node:path';
import { MAX_KEY_BYTES } from '../../base/contract/limits.js';
import { isWellFormed, KEY } from '../../base/contract/object-key.js';

const NAME = /^([0-9a-f]{32})\/([a-z][a-z0-9_-]{0,31})\/([\s\S]+)$/;

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

/** Undefined if it is not the name of an object. */
export function parseName(name: string): NameParts | undefined {
  const [, folder = '', entity = '', rest = ''] = NAME.exec(name) ?? [];
  if (Buffer.byteLength(rest) > MAX_KEY_BYTES || !isWellFormed(rest) || !KEY.test(rest)) return undefined;
  return { folder, entity, key: rest };
}

/**
 * The path of an object below the objects' folder. Keys are written in hexadecimal: no key leaves its folder, two keys never
 * mean the same file if letter case does not count, and `a` and `a/b` can both be objects.
 */
export function fileOfName({ folder, entity, key }: NameParts): string {
  const hex = Buffer.from(key).toString('hex');
  const lastAt = Math.floor((hex.length - 1) / PIECE) * PIECE;
  const pieces: string[] = [];
  for (let at = 0; at < lastAt; at += PIECE) pieces.push(hex.slice(at, at + PIECE));
  const last = hex.slice(lastAt);
  return path.join(folder, entity, ...pieces.map((piece) => piece + FOLDER_SUFFIX), last + FILE_SUFFIX);
}

/** The part that a file or folder on disk contributes to the hexadecimal form of a key; undefined if it is not ours. */
export function pieceOfEntry(entry: string): { hex: string; isFile: boolean } | undefined {
  const [, hex, suffix] = /^([0-9a-f]+)(\.object|~)$/.exec(entry) ?? [];
  return hex === undefined ? undefined : { hex, isFile: suffix === FILE_SUFFIX };
}
