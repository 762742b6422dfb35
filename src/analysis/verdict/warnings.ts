// SPDX-License-Identifier: Apache-2.0
import type { Analysis, SkippedStretch } from '../analyser/analyser.js';

/** To the millisecond, without zeros at the end. */
export const seconds = (time: number): string => String(Number(time.toFixed(3)));

/** The beginning of a sentence that goes on with what was allowed. */
export const skippedText = ({ startS, endS, nonSpeechPercent }: SkippedStretch): string =>
  `Not analysed from ${seconds(startS)} s to ${seconds(endS)} s: ${nonSpeechPercent.toFixed(1)} percent is not speech`;

/** Sentences for a reader: each stretch that was not scored, and damage to the file. */
export function warningsOf(analysis: Analysis, silenceThresholdPercent: number): string[] {
  const warnings = analysis.skipped.map(
    (stretch) => `${skippedText(stretch)}, and silence_threshold is ${silenceThresholdPercent}.`,
  );
  if (analysis.damagedPackets > 0) {
    const packets =
      analysis.damagedPackets === 1
        ? '1 damaged packet was'
        : `${analysis.damagedPackets} damaged packets were`;
    warnings.push(`${packets} skipped while decoding.`);
  }
  return warnings;
}
