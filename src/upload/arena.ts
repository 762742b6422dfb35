// SPDX-License-Identifier: Apache-2.0

/** A run of bytes in the upload arena. */
export interface ArenaRegion {
  readonly offset: number;
  readonly length: number;
}
