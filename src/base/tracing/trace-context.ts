// SPDX-License-Identifier: Apache-2.0
//
// The header `traceparent` of W3C Trace Context.

/** A span of any program, as other programs name it. */
export interface TraceContext {
  /** 32 hexadecimal digits in lower case, not all zero. */
  readonly traceId: string;
  /** 16 of them. */
  readonly spanId: string;
  /** Its spans are exported. */
  readonly isSampled: boolean;
}

const FIELDS = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;
/** Of version 00; later ones may be longer. */
const LENGTH = 55;
const SAMPLED = 1;

/** Undefined for anything that the specification does not allow. */
export function parseTraceparent(text: string): TraceContext | undefined {
  const [, version, traceId = '', spanId = '', flags = ''] = FIELDS.exec(text) ?? [];
  if (version === undefined || version === 'ff') return undefined;
  if (version === '00' && text.length !== LENGTH) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}

export const traceparentOf = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
