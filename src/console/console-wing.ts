// SPDX-License-Identifier: Apache-2.0
//
// This wing is the dashboard: its pages, the admin API behind them, users and sessions, and the memory of what the server did.
import type { Wing } from '../api/routes/wing.js';
import type { Logger } from '../base/observe/log.js';
import { adminEndpoints } from './contract/admin-endpoints.js';
import { HealthKeeper, type Siblings } from './health/health-keeper.js';
import { dashboardRoutes } from './pages/dashboard-routes.js';
import { type AdminOffice, type AdminParts, openAdminParts } from './routes/admin-parts.js';
import { type AdminRoutesParts, adminRoutes } from './routes/admin-routes.js';

/** The parts of a server that its console shows and uses. */
export type ConsoleSurroundings = Omit<AdminParts, keyof AdminOffice | 'sessions' | 'signIns'> &
  Pick<AdminRoutesParts, 'jobs'>;

export interface Console {
  /** Counts from the start on. Closed by its maker after the server has stopped. */
  readonly health: HealthKeeper;
  open(around: ConsoleSurroundings): Wing;
}

export function consoleOf(
  office: Omit<AdminOffice, 'health'>,
  log: Logger,
  siblings: Siblings | undefined,
): Console {
  const health = new HealthKeeper(office.database, log, siblings);
  return {
    health,
    open({ jobs, ...around }) {
      const parts = openAdminParts({ ...office, ...around, health });
      return {
        endpoints: () => adminEndpoints,
        routes: (_, points) => [...dashboardRoutes(), ...adminRoutes({ ...parts, jobs, points })],
        close: () => parts.sessions.close(),
      };
    },
  };
}
