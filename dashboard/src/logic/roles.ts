// SPDX-License-Identifier: Apache-2.0

/** Each has the rights of the ones before it. */
export const roles = ['viewer', 'developer', 'admin'] as const;

export type Role = (typeof roles)[number];

export const roleTexts: Readonly<Record<Role, string>> = {
  viewer: 'viewer: reads',
  developer: 'developer: keys, jobs and playground of the account',
  admin: 'admin: everything',
};
