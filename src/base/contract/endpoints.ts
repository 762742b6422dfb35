// SPDX-License-Identifier: Apache-2.0
import type { Endpoint, EndpointSettings } from './endpoint.js';
import { deletionEndpoint, downloadLinksEndpoint, linkBases, uploadLinksEndpoint } from './file-endpoints.js';
import { livezEndpoint, readyzEndpoint } from './health-endpoints.js';
import { type DetectorNames, largeFileModels } from './model-ids.js';
import { largeFileEndpoint, legacyPredictEndpoint, predictEndpoint } from './predict-endpoints.js';
import { enrollEndpoint, verifyEndpoint } from './voice-endpoints.js';

/**
 * All endpoints for client programs, in the order of the documentation.
 * @param detectors the available ones
 */
export function endpoints(
  settings: EndpointSettings,
  detectors: readonly DetectorNames[],
): readonly Endpoint[] {
  return [
    predictEndpoint(settings, detectors),
    ...(largeFileModels(detectors).length > 0
      ? [
          largeFileEndpoint(settings, detectors),
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
