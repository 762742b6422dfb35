// SPDX-License-Identifier: Apache-2.0
import type { Endpoint, EndpointSettings } from './endpoint.js';
import { deletionEndpoint, downloadLinksEndpoint, linkBases, uploadLinksEndpoint } from './file-endpoints.js';
import { livezEndpoint, readyzEndpoint } from './health-endpoints.js';
import { LARGE_FILE_MODEL } from './model-ids.js';
import { largeFileEndpoint, legacyPredictEndpoint, predictEndpoint } from './predict-endpoints.js';
import { enrollEndpoint, verifyEndpoint } from './voice-endpoints.js';

/**
 * All endpoints for client programs, in the order of the documentation.
 * @param models the ids of the available detectors
 */
export function endpoints(settings: EndpointSettings, models: readonly string[]): readonly Endpoint[] {
  return [
    predictEndpoint(settings, models),
    ...(models.includes(LARGE_FILE_MODEL)
      ? [
          largeFileEndpoint(settings),
          legacyPredictEndpoint('/v0/predict', settings),
          legacyPredictEndpoint('/predict', settings),
        ]
      : []),
    enrollEndpoint(settings),
    verifyEndpoint(settings),
    ...linkBases.flatMap(([path, version]) => [
      uploadLinksEndpoint(path, version),
      downloadLinksEndpoint(path, version),
      ...(version === 'v1' ? [deletionEndpoint(path)] : []),
    ]),
    livezEndpoint,
    readyzEndpoint,
  ];
}
