// SPDX-License-Identifier: Apache-2.0

/** Why the server itself closed a connection. */
export const closeReasons = [
  'connections',
  'address',
  'descriptors',
  'body_memory',
  'small_chunks',
  'answer_memory',
  'answer_not_taken',
  'framing',
] as const;
export type CloseReason = (typeof closeReasons)[number];
