// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';

/** ByteSource.identity from the known facts of a file: names and links stay secret. */
export function identityOf(...parts: readonly (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
