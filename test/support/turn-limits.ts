// SPDX-License-Identifier: Apache-2.0
import { type TurnLimits, TurnSlice } from '../../src/service/turn-slice.js';

/** Of a turn that nobody else waits for. */
export const unhurried = (stopping: AbortSignal = new AbortController().signal): TurnLimits => ({
  stopping,
  slice: new TurnSlice({ sliceMs: 0, overdueMs: 0, isWanted: () => false }),
});
