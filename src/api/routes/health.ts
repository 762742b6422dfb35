// SPDX-License-Identifier: Apache-2.0
import type { CheckedStatus } from '../../analysis/known-answers/checked-models.js';
import { aliasesOf } from '../../analysis/pipeline/model-status.js';
import type { DeviceStatus } from '../../analysis/scoring/devices.js';
import { packageCommit, packageVersion } from '../../base/config/package-dir.js';
import type { Liveness, Readiness } from '../../base/contract/health.js';
import { livezEndpoint, readyzEndpoint } from '../../base/contract/health-endpoints.js';
import type { DatabaseState } from '../../state/database/database.js';
import type { BucketWatch } from '../../state/storage/bucket-watch.js';
import type { FileStore } from '../../state/storage/open-storage.js';
import { jsonReply, type Route } from './route.js';

export interface Surroundings {
  readonly isStopping: () => boolean;
  readonly databaseState: () => DatabaseState;
  readonly files: Pick<FileStore, 'watch'>;
}

/** The process answers. Says nothing about models: an orchestrator must not restart a server that is loading them. */
const livezRoute: Route = {
  ...livezEndpoint,
  handle: () => jsonReply<Liveness>(200, { alive: true }),
};

/**
 * 200 while requests should be sent here: after the warm-up, unless known answers do not hold, and until the server was
 * told to stop. Without its database, or a bucket that does not answer, it goes on answering: if every host stopped, nobody would. If
 * only writing fails, others may be able to. With a bucket that only an operator can mend it is not ready.
 */
function readyzRoute(status: () => CheckedStatus, surroundings: Surroundings): Route {
  return {
    ...readyzEndpoint,
    tellsOperators: true,
    handle({ isOperator }) {
      const current = status();
      const { provider, fallbackReason, scoring, models, speakerModels } = current;
      const state = stateOf(current, surroundings);
      const code = state === 'ready' ? 200 : 503;
      const known = { ready: state === 'ready', state } as const;
      if (!isOperator) return jsonReply<Readiness>(code, known);
      return jsonReply<Readiness>(code, {
        ...known,
        version: packageVersion,
        commit: packageCommit,
        provider,
        fallback_reason: fallbackReason ?? null,
        ...(scoring && { devices: scoring.devices.map(deviceState) }),
        models,
        aliases: aliasesOf(current),
        speaker_models: speakerModels.map((model) => model.id),
        database: surroundings.databaseState(),
        storage: storageState(surroundings.files.watch),
        wrong_answers: wrongAnswersOf(current),
      });
    },
  };
}

export function stateOf(
  { ready, wrongAnswers }: CheckedStatus,
  { isStopping, databaseState, files }: Surroundings,
): Readiness['state'] {
  if (isStopping()) return 'stopping';
  if (!ready) return wrongAnswers.length > 0 ? 'wrong_answers' : 'starting';
  if (['full', 'read_only'].includes(databaseState())) return 'not_writable';
  return (files.watch?.isUsable ?? true) ? 'ready' : 'storage_unusable';
}

const storageState = (bucket: Pick<BucketWatch, 'state' | 'problem'> | undefined) => ({
  state: bucket?.state ?? 'up',
  problem: bucket?.problem ?? null,
});

export const wrongAnswersOf = ({ wrongAnswers }: CheckedStatus) =>
  wrongAnswers.map(({ modelId, file, expected, measured, tolerance, error }) => ({
    model: modelId,
    file,
    expected,
    measured,
    tolerance,
    error: error ?? null,
  }));

export function deviceState({ name, isWorking, problem }: DeviceStatus) {
  return { device: name, working: isWorking, problem: problem ?? null };
}

export const healthRoutes = (status: () => CheckedStatus, surroundings: Surroundings): readonly Route[] => [
  livezRoute,
  readyzRoute(status, surroundings),
];
