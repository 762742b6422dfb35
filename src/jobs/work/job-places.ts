// SPDX-License-Identifier: Apache-2.0

/** For accounts that have no job in work, so that they need not wait for long ones of others. */
const SPARE_PLACES = 1;

/** Of a process without workers none. */
export const sparePlaces = (workers: number): number => Math.min(workers, SPARE_PLACES);

/** Recordings that the models of a process have to be able to work on at once; one at least, since pools cannot be empty. */
export const recordingsAtOnce = (workers: number): number => Math.max(1, workers + sparePlaces(workers));
