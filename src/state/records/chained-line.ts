// SPDX-License-Identifier: Apache-2.0
import { hash } from 'node:crypto';

/** The last position of a chain of audit lines. */
export interface ChainState {
  /** Of the last line; 0 before the first. */
  readonly seq: number;
  /** Of the last line, hexadecimal. */
  readonly hash: string;
}

export const chainStart: ChainState = { seq: 0, hash: '0'.repeat(64) };

const PREFIX = '{"seq":';
const HASH_KEY = ',"hash":"';
const SUFFIX_LENGTH = HASH_KEY.length + 64 + '"}'.length;

export interface ChainedLine extends ChainState {
  /** The text that the hash covers, together with the hash of the line before. */
  readonly body: string;
}

/** The hash of a line: of the hash before it and of all of the line that stands in front of its own. */
const chainHash = (before: string, body: string): string => hash('sha256', before + body);

/** @param json an object with at least one member */
export function chainLine(json: string, before: ChainState): ChainedLine & { text: string } {
  const seq = before.seq + 1;
  const body = `${PREFIX}${seq},${json.slice(1, -1)}`;
  const own = chainHash(before.hash, body);
  return { seq, hash: own, body, text: `${body}${HASH_KEY}${own}"}\n` };
}

/** A line's place in the chain; undefined if it is not part of one. */
export function parseChainedLine(line: string): ChainedLine | undefined {
  const body = line.slice(0, -SUFFIX_LENGTH);
  const own = line.slice(-66, -2);
  const number = line.slice(PREFIX.length, line.indexOf(','));
  const isChained =
    line.startsWith(PREFIX) &&
    line.startsWith(HASH_KEY, body.length) &&
    line.endsWith('"}') &&
    /^[1-9]\d{0,14}$/.test(number) &&
    /^[0-9a-f]{64}$/.test(own);
  return isChained ? { seq: Number(number), hash: own, body } : undefined;
}

export const follows = (line: ChainedLine, before: ChainState): boolean =>
  line.seq === before.seq + 1 && line.hash === chainHash(before.hash, line.body);
