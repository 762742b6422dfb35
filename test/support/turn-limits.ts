// SPDX-License-Identifier: Apache-2.0
import { type TurnLimits, TurnSlice } from '../../src/jobs/turns/turn-slice.js';

/** Limits of a turn while nobody else waits. */
export const unhurried = (stopping: AbortSignal = new AbortController().signal): TurnLimits => ({
  stopping,
  slice: new TurnSlice({ sliceMs: 0, overdueMs: 0, isWanted: () => false }),
});
