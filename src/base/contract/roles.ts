// SPDX-License-Identifier: Apache-2.0

/** Of people and programs that use the admin API; each may do what those before it may. */
export const roles = ['viewer', 'developer', 'admin'] as const;
export type Role = (typeof roles)[number];

export const isAtLeast = (role: Role, least: Role): boolean => roles.indexOf(role) >= roles.indexOf(least);
