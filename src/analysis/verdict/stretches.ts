// SPDX-License-Identifier: Apache-2.0
import type { Prediction } from '../../base/contract/prediction.js';
import type { Analysis } from '../analyser/analyser.js';
import type { Contrast } from '../stretches/contrasts.js';

/** A part of a recording that sounds AI-generated. */
export interface Stretch {
  readonly startS: number;
  readonly endS: number;
  /** How likely it is AI-generated, 0..1. */
  readonly score: number;
  /** How far it stands out from the rest, in log-odds; null if there is no rest. */
  readonly strength: number | null;
}

/** The stretches that stand out; without any, a recording that is spoofed as a whole is one itself. */
export function stretchesOf(
  { windows }: Pick<Analysis, 'windows'>,
  { score, result }: { readonly score: number; readonly result: Prediction['global']['result'] },
  contrasts: readonly Contrast[],
): readonly Stretch[] {
  const [first, last] = [windows[0], windows.at(-1)];
  if (contrasts.length > 0 || result !== 'spoofed' || first === undefined || last === undefined)
    return contrasts;
  return [{ startS: first.startS, endS: last.endS, score, strength: null }];
}
