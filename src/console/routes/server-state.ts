// SPDX-License-Identifier: Apache-2.0
import { statfs } from 'node:fs/promises';
import type { CheckedStatus } from '../../analysis/known-answers/checked-models.js';
import { deviceState, type Surroundings, stateOf, wrongAnswersOf } from '../../api/routes/health.js';
import { type Config, options } from '../../base/config/options.js';
import { packageVersion } from '../../base/config/package-dir.js';
import type { Dialect } from '../../state/database/database.js';
import type { ServerState } from '../contract/health.js';

export interface StateSources extends Surroundings {
  readonly config: Config;
  status(): CheckedStatus;
}

/** Limits for comparison with the history. */
const shownLimits = [
  'maxInflightRequests',
  'maxInflightBytes',
  'maxWaitMs',
  'rateLimitRequests',
  'rateLimitWindowS',
  'keyConcurrency',
  'maxTransfers',
  'maxStreams',
  'maxConnections',
  'processes',
  'prepareThreads',
  'scoringThreads',
  'jobWorkers',
] as const satisfies readonly (keyof typeof options)[];

/** Paths on this machine are for operators: in the log, `veravox doctor` and `/readyz`. */
export const withoutFolders = (text: string | null | undefined): string | null =>
  text?.replace(/(?<![\w.:/])(?:\/[^\s/'":,;]+)+\/(?=[^\s/])/g, '') ?? null;

export async function serverState(
  { config, status, ...surroundings }: StateSources,
  databaseKind: Dialect,
  historyBytes: number,
): Promise<ServerState> {
  const current = status();
  const { provider, fallbackReason, scoring, detectors, speakerModels } = current;
  const modelsOf = (task: 'detection' | 'speaker') =>
    (task === 'detection' ? detectors : speakerModels).map(({ id, aliases, sha256 }) => ({
      id,
      task,
      aliases,
      sha256,
    }));
  return {
    version: packageVersion,
    state: stateOf(current, surroundings),
    uptime_s: Math.floor(process.uptime()),
    provider,
    fallback_reason: withoutFolders(fallbackReason),
    devices: (scoring?.devices ?? [])
      .map(deviceState)
      .map((device) => ({ ...device, problem: withoutFolders(device.problem) })),
    models: [...modelsOf('detection'), ...modelsOf('speaker')],
    wrong_answers: wrongAnswersOf(current).map((wrong) => ({ ...wrong, error: withoutFolders(wrong.error) })),
    database: { kind: databaseKind, state: surroundings.databaseState() },
    storage: {
      kind: config.storageBucket === '' ? 'data_folder' : 'bucket',
      bucket: config.storageBucket === '' ? null : config.storageBucket,
    },
    disk: await diskOf(config.dataDir),
    history_bytes: historyBytes,
    limits: shownLimits.map((name) => ({ setting: options[name].variable, value: Number(config[name]) })),
  };
}

async function diskOf(dir: string): Promise<ServerState['disk']> {
  try {
    const { bavail, blocks, bsize } = await statfs(dir);
    return { free_bytes: bavail * bsize, total_bytes: blocks * bsize };
  } catch {
    return null;
  }
}
