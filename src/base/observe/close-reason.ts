// SPDX-License-Identifier: Apache-2.0

/** Why the server ended a connection on its own account. */
export const closeReasons = [
  'connections',
  'address',
  'descriptors',
  'answer_memory',
  'answer_not_taken',
  'framing',
] as const;
export type CloseReason = (typeof closeReasons)[number];
