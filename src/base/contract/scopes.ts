// SPDX-License-Identifier: Apache-2.0

/** The permissions that a key can have. */
export const scopes = ['predict', 'voiceid', 'file', 'admin'] as const;
export type Scope = (typeof scopes)[number];
