// SPDX-License-Identifier: Apache-2.0
//
// This room describes the admin API as data, like src/base/contract for clients: endpoints with the lowest
// role, fields and answers.
import type { Endpoint } from '../../base/contract/endpoint.js';
import { analysisFactsLookup } from './analysis-facts.js';
import { adminHealthEndpoints } from './health-endpoints.js';
import { adminJobEndpoints } from './job-endpoints.js';
import { keyEndpoints } from './key-endpoints.js';
import { modelEndpoints } from './model-endpoints.js';
import { ownSessionEndpoints } from './own-sessions.js';
import { playgroundKeyCreation } from './playground-key.js';
import { sessionEndpoints } from './session-endpoints.js';
import { usageEndpoints } from './usage-endpoints.js';
import { userEndpoints } from './user-endpoints.js';

/** The endpoints for the dashboard and for scripts of operators, in the order of the documentation. */
export const adminEndpoints: readonly Endpoint[] = [
  ...sessionEndpoints,
  ...ownSessionEndpoints,
  ...userEndpoints,
  playgroundKeyCreation,
  ...keyEndpoints,
  ...usageEndpoints,
  ...adminJobEndpoints,
  analysisFactsLookup,
  ...modelEndpoints,
  ...adminHealthEndpoints,
];
