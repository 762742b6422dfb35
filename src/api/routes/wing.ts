// SPDX-License-Identifier: Apache-2.0
import type { ServedModels } from '../../analysis/served/served-models.js';
import type { Endpoint } from '../../base/contract/endpoint.js';
import type { DetectorNames } from '../../base/contract/model-ids.js';
import type { OperatingPoints } from '../../state/operating-points/operating-points.js';
import type { Route } from './route.js';

/** A part of a server that can be left out: its routes, and its work in the background. */
export interface Wing {
  /** The entries of its routes in the OpenAPI document. @param detectors the available ones */
  endpoints(detectors: readonly DetectorNames[]): readonly Endpoint[];
  /** Made anew after each change of models or operating points. */
  routes(models: ServedModels, points: OperatingPoints): readonly Route[];
  /** Goes on with the current models. */
  takeAnew?(): void;
  /** The server begins to stop: gives unfinished work back, once. */
  giveBack?(): Promise<void>;
  /** Sends the clients of endless answers to another server. */
  drain?(): void;
  /** The last request has ended. */
  close?(): void;
}
