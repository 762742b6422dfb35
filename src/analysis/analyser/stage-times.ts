// SPDX-License-Identifier: Apache-2.0
import type { StageTimesMs } from './analyser.js';

/** Of two analyses one after the other. */
export const sumOf = (a: StageTimesMs, b: StageTimesMs): StageTimesMs => ({
  queue: a.queue + b.queue,
  decode: a.decode + b.decode,
  features: a.features + b.features,
  inference: a.inference + b.inference,
});
