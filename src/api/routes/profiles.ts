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
import { receiveJson } from '../upload/json-body.js';
import { FieldValidator } from './form-fields.js';
import { queryValues } from './link-fields.js';
import { makeProfileRoute } from './make-profile.js';
import { isNamed, modelOf, profileBody, summaryOf } from './profile-bodies.js';
import type { MakeProfileParts } from './profile-making.js';
import { callerOf, idIn, jsonReply, type Route, type RouteRequest } from './route.js';

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
        const usable = await profiles.table.usableBy(callerOf(request).account);
        return jsonReply<ProfileList>(200, { profiles: usable.map((each) => summaryOf(each, detectors)) });
      },
    },
    {
      ...profileLookup,
      isPrefix: true,
      async handle(request) {
        const model = modelIn(request);
        const name = nameIn(request);
        const versions = await profiles.table.versions(callerOf(request).account, name);
        return jsonReply<ProfileBody>(200, profileBody(versions, detectors, model));
      },
    },
    {
      ...profileDeletion,
      isPrefix: true,
      async handle(request) {
        const caller = callerOf(request);
        const model = modelIn(request);
        const name = nameIn(request);
        const removed = await profiles.table.remove(
          caller.account,
          name,
          (id) => model === undefined || isNamed(id, model, detectors),
        );
        if (removed.length === 0) throw new ServiceError('PROFILE_NOT_FOUND');
        for (const id of removed) profiles.note({ event: 'profile_removed', name, model: id, ...caller });
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
        const { account } = caller;
        const own = (await profiles.table.versions(account, name)).filter((each) => each.account === account);
        const id = modelOf(own, detectors, model);
        const versions = await profiles.table.use(account, name, id, version);
        if (versions.length === 0) throw new ServiceError('PROFILE_NOT_FOUND');
        profiles.note({ event: 'profile_version_used', name, model: id, version, ...caller });
        await profiles.refresh();
        return jsonReply<ProfileBody>(200, profileBody(versions, detectors, id));
      },
    },
  ];
}
