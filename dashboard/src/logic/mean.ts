// SPDX-License-Identifier: Apache-2.0

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
