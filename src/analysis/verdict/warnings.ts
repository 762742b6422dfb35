// SPDX-License-Identifier: Apache-2.0
import type {
  Analysis,
  HearingFindings,
  MissedLook,
  SkippedStretch,
  StatedLength,
  Unheard,
} from '../analyser/analyser.js';

/** To the millisecond, without trailing zeros. */
export const seconds = (time: number): string => String(Number(time.toFixed(3)));

const percentAbove = (percent: number): string => (Math.ceil(percent * 10 - 1e-6) / 10).toFixed(1);

/** The start of a sentence that ends with the limit, so the share is rounded away from it. */
export const skippedText = ({ startS, endS, nonSpeechPercent }: SkippedStretch): string =>
  `Not analysed from ${seconds(startS)} s to ${seconds(endS)} s: ${percentAbove(nonSpeechPercent)} percent is not speech`;

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
  return `Stretches are not known: windows disagree, but had no second look, because ${why}. The reason mixed_content may also be missing.`;
}

/** A sentence for each stretch that was not scored, and for what was not heard. */
export function warningsOf(
  analysis: Pick<Analysis, 'skipped' | 'missedLook' | keyof HearingFindings>,
  silenceThresholdPercent: number,
): string[] {
  return [
    ...analysis.skipped.map(
      (stretch) => `${skippedText(stretch)}, and silence_threshold is ${silenceThresholdPercent}.`,
    ),
    ...hearingWarnings(analysis, ' channels=separate gives a verdict on each.'),
    ...(analysis.missedLook === undefined ? [] : [missedLookTexts[analysis.missedLook]]),
  ];
}

/**
 * A sentence for each part of a file that was not heard, and for damage to it.
 * @param channelsHint behind the sentence on channels that would cancel each other
 */
export function hearingWarnings(findings: HearingFindings, channelsHint = ''): string[] {
  const warnings = (findings.unheard ?? []).map(unheardText);
  if (findings.hasInvertedChannels) {
    warnings.unshift(
      `Channels have opposite polarity and would cancel each other: some were inverted for the mix.${channelsHint}`,
    );
  }
  if (findings.statedLength !== undefined) warnings.push(missingEndText(findings.statedLength));
  if (findings.damagedPackets > 0) warnings.push(damageText(findings));
  return warnings;
}

function damageText({ damagedPackets, damagedFromS = 0, damagedToS = 0 }: HearingFindings): string {
  const [from, to] = [seconds(damagedFromS), seconds(damagedToS)];
  const packets = damagedPackets === 1 ? '1 damaged packet was' : `${damagedPackets} damaged packets were`;
  return `${packets} skipped while decoding, ${from === to ? `near ${from} s` : `from ${from} s to ${to} s`}.`;
}
