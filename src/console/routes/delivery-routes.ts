// SPDX-License-Identifier: Apache-2.0
import { jsonReply, type Route } from '../../api/routes/route.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { DeliveryTable, LoggedDelivery } from '../../jobs/queue/delivery-table.js';
import type { AuditEvent } from '../../state/records/audit-chain.js';
import { deliveryListing, deliveryReplay } from '../contract/job-endpoints.js';
import type { DeliveryListFields } from '../contract/job-fields.js';
import type { AdminDelivery, AdminDeliveryList } from '../contract/jobs.js';
import { accountOfList, seesAccount } from './accounts.js';
import { parameterIn, queryFields } from './admin-fields.js';

import { adminRoute, type Gatekeeper } from './admin-route.js';
import { deliveryBody } from './job-bodies.js';
import { actedBy, type Principal } from './principal.js';

export interface DeliveryRoutesParts {
  readonly deliveries: DeliveryTable;
  readonly noteFirst: (event: AuditEvent) => Promise<void>;
}

/** `/v1/admin/deliveries`. */
export function deliveryRoutes(guard: Gatekeeper, { deliveries, noteFirst }: DeliveryRoutesParts): Route[] {
  const filter = queryFields<DeliveryListFields>(deliveryListing);
  return [
    adminRoute(guard, deliveryListing, async (principal, request) => {
      const { state, account: asked, limit } = filter(request);
      const account = accountOfList(principal, asked);
      const found = await deliveries.list({ state, account }, Number(limit));
      return jsonReply<AdminDeliveryList>(200, { deliveries: found.map(deliveryBody) });
    }),
    adminRoute(guard, deliveryReplay, async (principal, request) => {
      const id = parameterIn(request, deliveryReplay).slice(0, 64);
      const { account } = await visible(deliveries, principal, id);
      const event = { event: 'webhook_replayed', deliveryId: id, account, ...actedBy(principal) };
      await deliveries.replay(id, () => noteFirst(event));
      // Replayed, or as it was because it still waits.
      return jsonReply<AdminDelivery>(200, deliveryBody(await visible(deliveries, principal, id)));
    }),
  ];
}

async function visible(deliveries: DeliveryTable, principal: Principal, id: string): Promise<LoggedDelivery> {
  const found = await deliveries.find(id);
  if (found !== undefined && seesAccount(principal, found.account)) return found;
  throw new ServiceError('DELIVERY_NOT_FOUND');
}
