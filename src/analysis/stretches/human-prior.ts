// SPDX-License-Identifier: Apache-2.0

/**
 * Log-odds of windows of ordinary human voices: the tenths of the detectors' validation recordings. They stand for the rest of a
 * recording as long as little of it is known.
 */
export const humanPrior: readonly number[] = [-4.2, -3.6, -3.2, -2.8, -2.5, -2.2, -1.9, -1.6, -1.2, -0.6];

/** Below it lies all of a recording but its clearest windows. */
export const USUAL_SHARE = 0.9;
