// SPDX-License-Identifier: Apache-2.0
import type { PipelineStatus } from '../../analysis/analyser/analyser.js';
import { answersTo, defaultModel } from '../../base/contract/model-ids.js';
import type { ProfileBody, ProfileSummary, ProfileVersionBody } from '../../base/contract/profile.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { isFor } from '../../state/operating-points/operating-points.js';
import type { ProfileVersion } from '../../state/operating-points/profile.js';
import type { ProfileTable } from '../../state/operating-points/profile-table.js';
import type { AuditEvent } from '../../state/records/audit-chain.js';

/** The store of profiles behind a server. */
export interface ProfileStore {
  readonly table: ProfileTable;
  /** Resolves when requests to this process use the profiles as they are stored now. */
  refresh(): Promise<void>;
  /** Writes into the audit, if there is one. */
  note(event: AuditEvent): void;
}

type Detectors = PipelineStatus['detectors'];

export const isNamed = (id: string, name: string, detectors: Detectors): boolean =>
  id === name || detectors.some((detector) => detector.id === id && answersTo(detector, name));

/** The detector that a request means. @throws ServiceError PROFILE_NOT_FOUND */
export function modelOf(
  named: readonly ProfileVersion[],
  detectors: Detectors,
  model: string | undefined,
): string {
  const ids = [...new Set(named.map((each) => each.model))];
  const wanted = model ?? (ids.length === 1 ? (ids[0] as string) : defaultModel(detectors));
  const id = ids.find((each) => isNamed(each, wanted, detectors));
  if (id === undefined) throw new ServiceError('PROFILE_NOT_FOUND');
  return id;
}

/**
 * A profile with its versions.
 * @param versions of this name that the account may use; its own goes before one for all accounts
 * @throws ServiceError PROFILE_NOT_FOUND
 */
export function profileBody(
  versions: readonly ProfileVersion[],
  detectors: Detectors,
  model?: string,
): ProfileBody {
  const id = modelOf(versions, detectors, model);
  const ofModel = versions.filter((each) => each.model === id);
  const account = ofModel.some((each) => each.account !== undefined) ? ofModel[0]?.account : undefined;
  const all = ofModel.filter((each) => each.account === account);
  const current = all.find(({ isInUse }) => isInUse);
  if (current === undefined) throw new ServiceError('PROFILE_NOT_FOUND');
  return {
    ...summaryOf(current, detectors),
    correction: current.correction,
    versions: all.map((each) => ({ ...factsOf(each, detectors), in_use: each.isInUse })),
  };
}

export function summaryOf(profile: ProfileVersion, detectors: Detectors): ProfileSummary {
  const { name, model, account } = profile;
  return { name, model, shared: account === undefined, ...factsOf(profile, detectors) };
}

function factsOf(profile: ProfileVersion, detectors: Detectors): Omit<ProfileVersionBody, 'in_use'> {
  const { version, model, recordings, measured, created_at } = profile;
  const usable = detectors.some((detector) => answersTo(detector, model) && isFor(profile, detector));
  return { version, usable, recordings, measured, created_at };
}
