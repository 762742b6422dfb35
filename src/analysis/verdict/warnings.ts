// SPDX-License-Identifier: Apache-2.0
import type { Analysis, SkippedStretch } from '../analyser/analyser.js';

/** To the millisecond, without trailing zeros. */
export const seconds = (time: number): string => String(Number(time.toFixed(3)));

/** The start of a sentence that ends with the limit. */
export const skippedText = ({ startS, endS, nonSpeechPercent }: SkippedStretch): string =>
  `Not analysed from ${seconds(startS)} s to ${seconds(endS)} s: ${nonSpeechPercent.toFixed(1)} percent is not speech`;

/** A sentence for each stretch that was not scored, and for damage to the file. */
export function warningsOf(
  analysis: Pick<Analysis, 'skipped' | 'damagedPackets'>,
  silenceThresholdPercent: number,
): string[] {
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
