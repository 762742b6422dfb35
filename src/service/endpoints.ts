// SPDX-License-Identifier: Apache-2.0
//
// This room describes the client API as data: endpoints, fields, answers and their schemas. Types, the
// OpenAPI document, the client's types and tests all derive from it.
import type { Wing } from '../api/routes/wing.js';
import type { Endpoint, EndpointSettings } from '../base/contract/endpoint.js';
import { fileEndpoints } from '../base/contract/file-endpoints.js';
import { healthEndpoints } from '../base/contract/health-endpoints.js';
import type { DetectorNames } from '../base/contract/model-ids.js';
import { tags } from '../base/contract/operation.js';
import { predictEndpoints } from '../base/contract/predict-endpoints.js';
import { profileEndpoints } from '../base/contract/profile-endpoints.js';
import { streamEndpoints } from '../base/contract/stream-endpoints.js';
import { voiceEndpoints } from '../base/contract/voice-endpoints.js';

const order = Object.keys(tags);

/**
 * All endpoints of a server, in the order of the documentation.
 * @param detectors the available ones
 */
export const endpoints = (
  settings: EndpointSettings,
  detectors: readonly DetectorNames[],
  wings: readonly Pick<Wing, 'endpoints'>[],
): readonly Endpoint[] => {
  const all = [
    ...predictEndpoints(settings, detectors),
    ...profileEndpoints(settings, detectors),
    ...voiceEndpoints(settings),
    ...streamEndpoints,
    ...fileEndpoints(),
    ...healthEndpoints,
    ...wings.flatMap((wing) => wing.endpoints(detectors)),
  ];
  const rankOf = ({ operation }: Endpoint): number => order.indexOf(operation.tag);
  return all.toSorted((a, b) => rankOf(a) - rankOf(b));
};
