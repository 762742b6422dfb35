// SPDX-License-Identifier: Apache-2.0
//
// This wing is the dashboard: its pages, the admin API behind them, users and sessions, and the memory of what the server did.
import type { Wing } from '../api/routes/wing.js';
import type { Logger } from '../base/observe/log.js';
import { adminEndpoints } from './contract/admin-endpoints.js';
import { HealthCounter, type Siblings } from './health/health-counter.js';
import { dashboardRoutes } from './pages/dashboard-routes.js';
import { type AdminParts, type AdminStateParts, openAdminParts } from './routes/admin-parts.js';
import { type AdminRoutesParts, adminRoutes } from './routes/admin-routes.js';

/** The parts of a server that its console shows and uses. */
export type ConsoleSurroundings = Omit<AdminParts, keyof AdminStateParts | 'sessions' | 'signIns'> &
  Pick<AdminRoutesParts, 'jobs'>;

export interface Console {
  /** Counts from the start on. Closed by its maker after the server has stopped. */
  readonly health: HealthCounter;
  open(around: ConsoleSurroundings): Wing;
}

export function consoleOf(
  state: Omit<AdminStateParts, 'health'>,
  log: Logger,
  siblings: Siblings | undefined,
): Console {
  const health = new HealthCounter(state.database, log, siblings);
  return {
    health,
    open({ jobs, ...around }) {
      const parts = openAdminParts({ ...state, ...around, health });
      return {
        endpoints: () => adminEndpoints,
        routes: (_, points) => [...dashboardRoutes(), ...adminRoutes({ ...parts, jobs, points })],
        close: () => parts.sessions.close(),
      };
    },
  };
}
