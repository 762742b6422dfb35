// SPDX-License-Identifier: Apache-2.0
//
// This room handles the admin API under /v1/admin. A guard checks session, role and the page's token
// before each handler.
import type { Route } from '../../api/routes/route.js';
import { KeyTable } from '../../state/keys/key-table.js';
import type { AuditEvent } from '../../state/records/audit-chain.js';
import { UsageTable } from '../../state/records/usage-table.js';
import { AdminGuard } from './admin-guard.js';
import type { AdminParts } from './admin-parts.js';
import { deliveryRoutes } from './delivery-routes.js';
import { healthRoutes } from './health-routes.js';
import { type AdminJobsParts, adminJobRoutes } from './job-routes.js';
import { keyRoutes } from './key-routes.js';
import { type ModelRoutesParts, modelRoutes } from './model-routes.js';
import { oidcRoutes } from './oidc-routes.js';
import { ownSessionRoutes } from './own-session-routes.js';
import { playgroundRoute } from './playground-route.js';
import { sessionRoutes } from './session-routes.js';
import { usageRoutes } from './usage-routes.js';
import { userRoutes } from './user-routes.js';

export interface AdminRoutesParts extends AdminParts, Pick<ModelRoutesParts, 'points'> {
  readonly jobs: Omit<AdminJobsParts, 'noteFirst'>;
}

/** `/v1/admin/...`. */
export function adminRoutes(parts: AdminRoutesParts): Route[] {
  const { config, database, jobs, points } = parts;
  const guard = new AdminGuard(parts);
  const keyTable = new KeyTable(database);
  const usageTable = new UsageTable(database);
  const noteFirst = (event: AuditEvent): Promise<void> => parts.noteFirst(event);
  return [
    ...sessionRoutes(parts, guard),
    ...ownSessionRoutes(parts, guard),
    ...oidcRoutes(parts),
    ...userRoutes(parts, guard),
    playgroundRoute(parts, guard),
    ...keyRoutes(guard, { keyTable, usageTable, noteFirst, config }),
    ...usageRoutes(guard, { keyTable, usageTable, flushUsage: () => parts.flushUsage() }),
    ...adminJobRoutes(guard, { ...jobs, noteFirst }),
    ...deliveryRoutes(guard, { deliveries: jobs.jobs.deliveries, noteFirst }),
    ...modelRoutes(guard, { config, status: () => parts.status(), points }),
    ...healthRoutes(guard, parts),
  ];
}
