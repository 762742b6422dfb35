// SPDX-License-Identifier: Apache-2.0

/** Infinite at 0 and 1. @param probability 0..1 */
export const logOddsOf = (probability: number): number => Math.log(probability) - Math.log1p(-probability);

/** 0..1 */
export const probabilityOf = (logOdds: number): number => 1 / (1 + Math.exp(-logOdds));
