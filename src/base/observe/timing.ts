// SPDX-License-Identifier: Apache-2.0

/** The stages of an analysis, in the order in which a request passes them. */
export const stages = ['receive', 'queue', 'decode', 'features', 'inference'] as const;
export type Stage = (typeof stages)[number];
/** Time per stage in ms, as far as the request came. */
export type StageDurationsMs = { readonly [stage in Stage]?: number };

/** The value of a `Server-Timing` header. */
export function serverTiming(durationsMs: StageDurationsMs): string {
  let header = '';
  for (const stage of stages) {
    const durationMs = durationsMs[stage];
    if (durationMs !== undefined)
      header += `${header === '' ? '' : ', '}${stage};dur=${durationMs.toFixed(3)}`;
  }
  return header;
}
