// SPDX-License-Identifier: Apache-2.0

/** Of people and programs that use the admin API; each has the rights of the ones before it. */
export const roles = ['viewer', 'developer', 'admin'] as const;
export type Role = (typeof roles)[number];

export const isAtLeast = (role: Role, least: Role): boolean => roles.indexOf(role) >= roles.indexOf(least);
