// SPDX-License-Identifier: Apache-2.0
//
// This room describes the client API as data: endpoints, fields, answers and their schemas. Types, the
// OpenAPI document, the client's types and tests all derive from it.
import type { Endpoint, EndpointSettings } from './endpoint.js';
import { fileEndpoints } from './file-endpoints.js';
import { healthEndpoints } from './health-endpoints.js';
import { jobEndpoints } from './job-endpoints.js';
import type { DetectorNames } from './model-ids.js';
import { predictEndpoints } from './predict-endpoints.js';
import { streamEndpoints } from './stream-endpoints.js';
import { voiceEndpoints } from './voice-endpoints.js';

/**
 * All endpoints for client programs, in the order of the documentation.
 * @param detectors the available ones
 */
export const endpoints = (
  settings: EndpointSettings,
  detectors: readonly DetectorNames[],
): readonly Endpoint[] => [
  ...predictEndpoints(settings, detectors),
  ...voiceEndpoints(settings),
  ...jobEndpoints(detectors),
  ...streamEndpoints,
  ...fileEndpoints(),
  ...healthEndpoints,
];
