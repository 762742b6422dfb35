// SPDX-License-Identifier: Apache-2.0

export const PREFERRED_MODEL = 'apollo-4-5-2026-03-26';
/** Serves `/v1/predict/large-file` and v0 only. */
export const LARGE_FILE_MODEL = 'apollo-4-2025-10-20';

/** The detector of requests without `model`: the contract's, or the first one if the operator runs others. */
export function defaultModel(loadedModels: readonly string[]): string {
  return loadedModels.includes(PREFERRED_MODEL) ? PREFERRED_MODEL : (loadedModels[0] as string);
}
