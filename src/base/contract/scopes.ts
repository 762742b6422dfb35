// SPDX-License-Identifier: Apache-2.0

/** What a key may be for. */
export const scopes = ['predict', 'voiceid', 'file', 'admin'] as const;
export type Scope = (typeof scopes)[number];
