// SPDX-License-Identifier: Apache-2.0

/** The shortest first. */
const encodings = ['br', 'gzip', 'identity'] as const;
export type Encoding = (typeof encodings)[number];

/**
 * The best encoding that the client understands.
 * @param accepted the header `accept-encoding`
 * @param offered the encodings beside `identity`
 */
export function encodingFor(accepted: string, offered: (encoding: Encoding) => boolean): Encoding {
  const understood = accepted
    .split(',')
    .filter((entry) => !/;\s*q=0(?:\.0*)?\s*$/.test(entry))
    .map((entry) => entry.split(';')[0]?.trim().toLowerCase());
  return encodings.find((encoding) => understood.includes(encoding) && offered(encoding)) ?? 'identity';
}
