// SPDX-License-Identifier: Apache-2.0
import type { CheckedStatus } from '../../analysis/known-answers/checked-models.js';
import { modelCard, modelListing } from '../../base/contract/admin/model-endpoints.js';
import type { AdminModelList } from '../../base/contract/admin/models.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { OperatingPoints } from '../../state/operating-points/operating-points.js';
import { deviceState } from '../routes/health.js';
import { jsonReply, type Reply, type Route } from '../routes/route.js';
import { parameterIn } from './admin-fields.js';

import { adminRoute, type Gatekeeper } from './admin-route.js';
import { modelBodies, readCard, servedModels } from './model-bodies.js';
import { withoutFolders } from './server-state.js';

export interface ModelRoutesParts {
  readonly modelsDir: string;
  readonly status: () => CheckedStatus;
  readonly points: OperatingPoints;
}

/** `/v1/admin/models`. */
export const modelRoutes = (guard: Gatekeeper, parts: ModelRoutesParts): Route[] => [
  adminRoute(guard, modelListing, () => listing(parts)),
  adminRoute(guard, modelCard, (_, request) => card(parts, parameterIn(request, modelCard))),
];

async function listing({ modelsDir, status: current, points }: ModelRoutesParts): Promise<Reply> {
  const status = current();
  return jsonReply<AdminModelList>(200, {
    provider: status.provider,
    fallback_reason: withoutFolders(status.fallbackReason),
    devices: (status.scoring?.devices ?? []).map(deviceState),
    models: await modelBodies({ modelsDir, status, points }),
  });
}

async function card({ modelsDir, status }: ModelRoutesParts, id: string): Promise<Reply> {
  const isServed = servedModels(status()).some((model) => model.id === id);
  const text = isServed ? await readCard(modelsDir, id) : undefined;
  if (text === undefined) throw new ServiceError('CARD_NOT_FOUND');
  return {
    status: 200,
    contentType: 'text/markdown; charset=utf-8',
    body: text,
    headers: [['x-content-type-options', 'nosniff']],
  };
}
