// SPDX-License-Identifier: Apache-2.0
import { clock } from '../../logic/clock.js';
import { resultWords } from '../../logic/conclusion.js';
import type { ScoredWindow } from '../../logic/windows.js';

/** A score or a confidence, as tables and sentences show it. */
export const shown = (share: number): string => share.toFixed(3);

/** Time, score and verdict of a window. */
export const sentenceOn = ({ startS, endS, score, result, confidence }: ScoredWindow): string =>
  `${clock(startS)} to ${clock(endS)}: score ${shown(score)}, ${resultWords[result]}, confidence ${shown(confidence)}.`;
