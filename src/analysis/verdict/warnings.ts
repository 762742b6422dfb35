// SPDX-License-Identifier: Apache-2.0
import type { Analysis, MissedLook, SkippedStretch, StatedLength, Unheard } from '../analyser/analyser.js';

/** To the millisecond, without trailing zeros. */
export const seconds = (time: number): string => String(Number(time.toFixed(3)));

/** The start of a sentence that ends with the limit. */
export const skippedText = ({ startS, endS, nonSpeechPercent }: SkippedStretch): string =>
  `Not analysed from ${seconds(startS)} s to ${seconds(endS)} s: ${nonSpeechPercent.toFixed(1)} percent is not speech`;

export const unheardText = ({ bytes, atS, what }: Unheard): string =>
  `Not analysed: ${bytes} bytes after ${seconds(atS)} s, ${what}.`;

export const missingEndText = ({ statedS, foundS }: StatedLength): string =>
  statedS === undefined
    ? `The end is missing: the file breaks off after ${seconds(foundS)} s.`
    : `Audio is missing: the file states a length of ${seconds(statedS)} s, but has ${seconds(foundS)} s.`;

export const missedLookTexts: Readonly<Record<MissedLook, string>> = {
  QUEUE_DEADLINE: missedLookText('no thread was free for it in time'),
  ANALYSIS_TIMEOUT: missedLookText('it did not end in time'),
};

function missedLookText(why: string): string {
  return `Stretches are not known: windows disagree, but had no second look, because ${why}. The reason mixed_content may be missing, too.`;
}

/** A sentence for each stretch that was not scored, for parts of the file that were not heard, and for damage to it. */
export function warningsOf(
  analysis: Pick<
    Analysis,
    'skipped' | 'damagedPackets' | 'unheard' | 'statedLength' | 'hasInvertedChannels' | 'missedLook'
  >,
  silenceThresholdPercent: number,
): string[] {
  const warnings = analysis.skipped.map(
    (stretch) => `${skippedText(stretch)}, and silence_threshold is ${silenceThresholdPercent}.`,
  );
  if (analysis.hasInvertedChannels) {
    warnings.push(
      'Channels have opposite polarity and would cancel each other: some were inverted for the mix. ' +
        'channels=separate gives a verdict on each.',
    );
  }
  warnings.push(...(analysis.unheard ?? []).map(unheardText));
  if (analysis.statedLength !== undefined) warnings.push(missingEndText(analysis.statedLength));
  if (analysis.missedLook !== undefined) warnings.push(missedLookTexts[analysis.missedLook]);
  if (analysis.damagedPackets > 0) {
    const packets =
      analysis.damagedPackets === 1
        ? '1 damaged packet was'
        : `${analysis.damagedPackets} damaged packets were`;
    warnings.push(`${packets} skipped while decoding.`);
  }
  return warnings;
}
