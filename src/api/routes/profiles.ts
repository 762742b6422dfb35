// SPDX-License-Identifier: Apache-2.0
import type { DeletedProfile, ProfileBody, ProfileList } from '../../base/contract/profile.js';
import {
  type ProfileQuery,
  profileChange,
  profileDeletion,
  profileListing,
  profileLookup,
  type VersionChoice,
  versionChoice,
} from '../../base/contract/profile-endpoints.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { ProfileVersion } from '../../state/operating-points/profile.js';
import type { ProfileTable } from '../../state/operating-points/profile-table.js';
import { receiveJson } from '../upload/json-body.js';
import { FieldValidator } from './form-fields.js';
import { queryValues } from './link-fields.js';
import { type MakeProfileParts, makeProfileRoute } from './make-profile.js';
import { isNamed, modelOf, profileBody, summaryOf } from './profile-bodies.js';
import { type Caller, callerOf, idIn, jsonReply, type Route, type RouteRequest } from './route.js';

const MAX_JSON_BYTES = 4096;

/** `/v1/profiles`: corrections of scores for a channel of the account. */
export function profileRoutes(parts: MakeProfileParts): readonly Route[] {
  const { analyser, config, profiles } = parts;
  const { detectors } = analyser.status();
  const query = new FieldValidator<ProfileQuery>({ schemas: profileLookup.operation.query?.schemas ?? {} });
  const choice = new FieldValidator<VersionChoice>(versionChoice);
  const modelIn = (request: RouteRequest): string | undefined =>
    query.check(queryValues(request.query, profileLookup.operation.query?.schemas ?? {})).model;
  const nameIn = ({ path }: RouteRequest): string => path.slice(profileLookup.path.length).slice(0, 64);

  return [
    makeProfileRoute(parts),
    {
      ...profileListing,
      async handle(request) {
        const versions = await profiles.table.versions(callerOf(request).account);
        const inUse = versions.filter(({ isInUse }) => isInUse);
        return jsonReply<ProfileList>(200, { profiles: inUse.map((each) => summaryOf(each, detectors)) });
      },
    },
    {
      ...profileLookup,
      isPrefix: true,
      async handle(request) {
        const model = modelIn(request);
        const versions = await profiles.table.versions(callerOf(request).account);
        return jsonReply<ProfileBody>(200, profileBody(versions, nameIn(request), detectors, model));
      },
    },
    {
      ...profileDeletion,
      isPrefix: true,
      async handle(request) {
        const caller = callerOf(request);
        const model = modelIn(request);
        const name = nameIn(request);
        const own = await ownVersions(profiles.table, caller, name);
        const ids = new Set(own.map(({ model: id }) => id));
        const wanted = [...ids].filter((id) => model === undefined || isNamed(id, model, detectors));
        if (wanted.length === 0) throw new ServiceError('PROFILE_NOT_FOUND');
        for (const id of wanted) {
          await profiles.table.remove(caller.account, name, id);
          profiles.note({ event: 'profile_removed', name, model: id, ...caller });
        }
        await profiles.refresh();
        return jsonReply<DeletedProfile>(200, { deleted: name });
      },
    },
    {
      ...profileChange,
      async handle(request) {
        const limits = { maxBytes: MAX_JSON_BYTES, receiveTimeoutMs: config.receiveTimeoutMs };
        const given = await receiveJson(request.body, request.contentType, limits);
        choice.note(request, given);
        const { version, model } = choice.fromJson(given);
        const caller = callerOf(request);
        const name = idIn(request.path, profileChange.path);
        const own = await ownVersions(profiles.table, caller, name);
        const id = modelOf(own, detectors, model);
        if (!(await profiles.table.use(caller.account, name, id, version)))
          throw new ServiceError('PROFILE_NOT_FOUND');
        profiles.note({ event: 'profile_version_used', name, model: id, version, ...caller });
        await profiles.refresh();
        const versions = await profiles.table.versions(caller.account);
        return jsonReply<ProfileBody>(200, profileBody(versions, name, detectors, id));
      },
    },
  ];
}

/** Versions that an account may change. */
const ownVersions = async (
  table: ProfileTable,
  { account }: Caller,
  name: string,
): Promise<ProfileVersion[]> =>
  (await table.versions(account)).filter((each) => each.account === account && each.name === name);
