// SPDX-License-Identifier: Apache-2.0
import type { ComponentType } from 'preact';
import type { Role } from './logic/roles.js';
import type { ViewProps } from './place.js';

export interface View {
  /** Its part of the address. */
  readonly name: string;
  readonly title: string;
  /** The least role that sees it. */
  readonly role: Role;
  /** Behind the user's name, not in the navigation. */
  readonly isPersonal?: boolean;
  /** Each view is a file of its own, loaded when it is first shown. */
  load(): Promise<{ readonly default: ComponentType<ViewProps> }>;
}

/** In the order of the navigation; users arrive at the first one that they may see. */
export const views: readonly View[] = [
  {
    name: 'playground',
    title: 'Playground',
    role: 'developer',
    load: () => import('./views/playground/playground.js'),
  },
  { name: 'live', title: 'Live', role: 'developer', load: () => import('./views/live/live.js') },
  { name: 'voices', title: 'Voices', role: 'developer', load: () => import('./views/voices/voices.js') },
  { name: 'jobs', title: 'Jobs', role: 'viewer', load: () => import('./views/jobs/jobs.js') },
  { name: 'keys', title: 'Keys', role: 'viewer', load: () => import('./views/keys/keys.js') },
  { name: 'usage', title: 'Usage', role: 'viewer', load: () => import('./views/usage/usage.js') },
  { name: 'health', title: 'Health', role: 'viewer', load: () => import('./views/health/health.js') },
  { name: 'reports', title: 'Reports', role: 'viewer', load: () => import('./views/reports/reports.js') },
  { name: 'users', title: 'Users', role: 'admin', load: () => import('./views/users/users.js') },
  {
    name: 'account',
    title: 'Your profile',
    role: 'viewer',
    isPersonal: true,
    load: () => import('./views/account/account.js'),
  },
];
