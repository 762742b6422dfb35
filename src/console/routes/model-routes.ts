// SPDX-License-Identifier: Apache-2.0
import type { CheckedStatus } from '../../analysis/known-answers/checked-models.js';
import { deviceState } from '../../api/routes/health.js';
import { JSON_TYPE, jsonReply, type Reply, type Route } from '../../api/routes/route.js';
import { TaggedText } from '../../api/routes/tagged-text.js';
import type { Config } from '../../base/config/options.js';
import { verdictFieldSchemas } from '../../base/contract/predict-fields.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { seldom } from '../../base/observe/fresh-for.js';
import type { OperatingPoints } from '../../state/operating-points/operating-points.js';
import { type AdminAnalysisFacts, analysisFactsLookup } from '../contract/analysis-facts.js';
import { modelCard, modelListing } from '../contract/model-endpoints.js';
import type { AdminModelList } from '../contract/models.js';
import { parameterIn } from './admin-fields.js';

import { adminRoute, type Gatekeeper } from './admin-route.js';
import { detectorFacts, modelBodies, readCard, servedModels } from './model-bodies.js';
import { withoutFolders } from './server-state.js';

export interface ModelRoutesParts {
  readonly config: Pick<Config, 'modelsDir' | 'maxPredictBytes'>;
  readonly status: () => CheckedStatus;
  readonly points: OperatingPoints;
}

/** Between two readings of the models' files, however many ask: their text is long, and simultaneous requests share it. */
const PAUSE_MS = 100;

/** `/v1/admin/models`, and the part of it that a page for requests needs. */
export function modelRoutes(guard: Gatekeeper, parts: ModelRoutesParts): Route[] {
  const known = seldom(PAUSE_MS, () => facts(parts));
  const list = seldom(PAUSE_MS, () => listing(parts));
  return [
    adminRoute(guard, analysisFactsLookup, () => known()),
    // Figures of many thresholds are long.
    adminRoute(guard, modelListing, async (_, { headers }) =>
      (await list()).reply(headers, 'private, no-cache'),
    ),
    adminRoute(guard, modelCard, (_, request) => card(parts, parameterIn(request, modelCard))),
  ];
}

async function facts({ config, status, points }: ModelRoutesParts): Promise<Reply> {
  const { detectors } = status();
  const { model, threshold, silence_threshold } = verdictFieldSchemas(detectors);
  return jsonReply<AdminAnalysisFacts>(200, {
    model_names: [...model.enum],
    default_model: model.default,
    threshold: threshold.default,
    silence_threshold: silence_threshold.default,
    max_file_bytes: config.maxPredictBytes,
    detectors: await detectorFacts({ modelsDir: config.modelsDir, status: status(), points }),
  });
}

async function listing({
  config: { modelsDir },
  status: current,
  points,
}: ModelRoutesParts): Promise<TaggedText> {
  const status = current();
  const list: AdminModelList = {
    provider: status.provider,
    fallback_reason: withoutFolders(status.fallbackReason),
    devices: (status.scoring?.devices ?? []).map(deviceState),
    models: await modelBodies({ modelsDir, status, points }),
  };
  return new TaggedText(JSON.stringify(list), JSON_TYPE);
}

async function card({ config: { modelsDir }, status }: ModelRoutesParts, id: string): Promise<Reply> {
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
