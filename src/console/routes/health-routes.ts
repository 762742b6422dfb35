// SPDX-License-Identifier: Apache-2.0
import { detectorNamed } from '../../analysis/pipeline/model-status.js';
import { jsonReply, type Reply, type Route } from '../../api/routes/route.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { Database } from '../../state/database/database.js';
import type { AuditEvent } from '../../state/records/audit-chain.js';
import type { AdminDrift, DriftReference } from '../contract/drift.js';
import type { AdminHealth } from '../contract/health.js';
import { driftLookup, healthLookup, referenceChoice } from '../contract/health-endpoints.js';
import type { DriftFields, HealthFields, ReferenceFields } from '../contract/health-fields.js';
import { hourOf } from '../drift/score-counts.js';
import { TooFewFiles } from '../drift/score-table.js';
import { REFERENCE_FILES } from '../drift/stability-index.js';
import type { HealthCounter } from '../health/health-counter.js';
import { WallLabels } from '../health/monotonic.js';
import { jsonFields, queryFields } from './admin-fields.js';

import { adminRoute, type Gatekeeper } from './admin-route.js';
import { driftAnswer, modelDrift } from './drift-answer.js';
import { historyAnswer } from './history-answer.js';
import { spanOf } from './history-span.js';
import { actedBy, type Principal } from './principal.js';
import { type StateSources, serverState } from './server-state.js';

export interface HealthRoutesParts extends StateSources {
  readonly database: Pick<Database, 'dialect'>;
  noteFirst(event: AuditEvent): Promise<void>;
  readonly health: HealthCounter;
}

/** The server's state and history, and its detectors' scores. */
export function healthRoutes(guard: Gatekeeper, parts: HealthRoutesParts): Route[] {
  const { health, config, database, status } = parts;
  const labels = new WallLabels();
  const healthFields = queryFields<HealthFields>(healthLookup);
  const driftFields = queryFields<DriftFields>(driftLookup);
  const referenceFields = jsonFields<ReferenceFields>(referenceChoice, config.receiveTimeoutMs);

  async function history(fields: HealthFields): Promise<Reply> {
    const offsetS = labels.offsetS();
    const { fromS, toS, stepS } = spanOf(fields, Date.now() / 1000);
    const span = { fromS: fromS - offsetS, toS: toS - offsetS, stepS };
    const { stretch, processes } = await health.history(span);
    return jsonReply<AdminHealth>(200, {
      now: await serverState(parts, database.dialect, health.historyBytes),
      history: historyAnswer(stretch, offsetS, processes),
    });
  }

  async function drift({ hours }: DriftFields): Promise<Reply> {
    await health.flushScores();
    const counts = await health.scores.read(lastHours(Number(hours)));
    const models = await Promise.all(
      status().detectors.map(async ({ id: model, scoreFingerprint: fingerprint }) => {
        const by = { model, fingerprint };
        return modelDrift(by, counts, await health.scores.reference(by));
      }),
    );
    return jsonReply<AdminDrift>(200, driftAnswer(models));
  }

  async function choose(
    principal: Principal,
    { model: name, hours }: ReferenceFields,
  ): Promise<DriftReference> {
    const { id: model, scoreFingerprint: fingerprint } = detectorNamed(status(), name);
    await health.flushScores();
    try {
      const files = await health.scores.choose(
        { model, fingerprint },
        lastHours(hours),
        Date.now(),
        (chosen) =>
          parts.noteFirst({
            event: 'drift_reference_chosen',
            ...{ model, files: chosen, hours },
            ...actedBy(principal),
          }),
      );
      return { model, files };
    } catch (error) {
      if (!(error instanceof TooFewFiles)) throw error;
      const expected = `hours with at least ${REFERENCE_FILES} files`;
      throw new ServiceError('FIELD_INVALID', {
        field: 'hours',
        expected,
        received: `${hours} with ${error.files}`,
      });
    }
  }

  return [
    adminRoute(guard, healthLookup, (_, request) => history(healthFields(request))),
    adminRoute(guard, driftLookup, (_, request) => drift(driftFields(request))),
    adminRoute(guard, referenceChoice, async (principal, request) => {
      return jsonReply<DriftReference>(200, await choose(principal, await referenceFields(request)));
    }),
  ];
}

const lastHours = (hours: number) => {
  const to = hourOf(Date.now());
  return { from: to - hours + 1, to };
};
