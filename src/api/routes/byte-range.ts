// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';

export interface ByteRange {
  readonly start: number;
  /** The first byte that is not in it. */
  readonly end: number;
}

/** No byte of the object is in the range. */
export class RangeRefused extends ServiceError {
  /** Of the object. */
  readonly bytes: number;

  constructor(range: string, bytes: number) {
    super('OBJECT_RANGE_INVALID', { range, bytes });
    this.bytes = bytes;
  }
}

/**
 * The part of a body that a `range` header asks for (RFC 9110, section 14.2). Undefined if all of it must be sent: no header,
 * one that cannot be understood, or several ranges at once.
 * @throws RangeRefused
 */
export function requestedRange(header: string | undefined, bytes: number): ByteRange | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/i.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || first + last === '') return undefined;
  const isSuffix = first === '';
  if (!isSuffix && last !== '' && BigInt(last) < BigInt(first)) return undefined;
  const start = isSuffix ? Math.max(0, bytes - Number(last)) : Number(first);
  const end = isSuffix || last === '' ? bytes : Math.min(bytes, Number(last) + 1);
  if (start >= end) throw new RangeRefused(`${first}-${last}`, bytes);
  return { start, end };
}
