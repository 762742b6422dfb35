// SPDX-License-Identifier: Apache-2.0
import type { CheckedStatus } from '../analysis/known-answers/checked-models.js';
import type { ModelRotation } from '../analysis/served/model-rotation.js';
import { type Surroundings, stateOf } from '../api/routes/health.js';
import type { GaugeSources } from '../base/observe/service-metrics.js';

/** The state of the models in metrics, and whether this process is ready. */
export function modelGauges(models: ModelRotation, surroundings: Surroundings) {
  const status = (): CheckedStatus => models.status();
  return {
    modelSets: () => models.sets,
    models: status,
    ready: () => stateOf(status(), surroundings) === 'ready',
    databaseUp: () => surroundings.databaseState() === 'up',
    wrongAnswers: () => status().wrongAnswers.length,
    provider: () => status().provider,
    devices: () => status().scoring?.devices ?? [],
    inputsWaiting: () => status().scoring?.waitingCount ?? 0,
    fellBackToCpu: () => status().fallbackReason !== undefined,
  } satisfies Partial<GaugeSources>;
}
