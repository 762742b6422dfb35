// SPDX-License-Identifier: Apache-2.0
import { reasons } from '../../src/verdict/reasons.js';

/** Of a condition that `npm run bench:reasons` made of clips; null where it could not be told of any. */
export interface MeasuredCondition {
  readonly condition: string;
  readonly bandLimitedPercent: number | null;
  readonly lowSnrPercent: number | null;
}

const percentText = (percent: number | null): string => (percent === null ? '' : `${percent} %`);

/** `docs/reasons.md`. */
export function reasonsPage(measured: readonly MeasuredCondition[]): string {
  const rows = Object.entries(reasons).map(([reason, { when }]) => `| \`${reason}\` | ${when} |`);
  const measuredRows = measured.map(
    ({ condition, bandLimitedPercent, lowSnrPercent }) =>
      `| ${condition} | ${percentText(bandLimitedPercent)} | ${percentText(lowSnrPercent)} |`,
  );
  return [
    '# Reasons',
    '',
    '`global.reason` is null when the verdict can be taken as it stands. Otherwise it is the first of these that applies; what is',
    'wrong with the recording comes before what is odd about its scores, which it may explain:',
    '',
    '| Reason | When |',
    '|---|---|',
    ...rows,
    '',
    '`band_limited` and `low_snr` follow from the levels of 10 ms frames, of those with speech and those without',
    '([vad.md](vad.md)), over the whole file and after resampling to 16 kHz. Silences and duration make no difference, nor do the',
    'sample rate, format and bit rate of the file by themselves: what counts is what is left of the voice. Neither is said of a',
    'file with less than a second of speech, `low_snr` only with 0.3 s of pauses in it. Speech that is fainter than about',
    '-50 dBFS may be too close to the noise of 16 bits to show a band limit; other voices in the background count as speech, not',
    'as noise.',
    '',
    'Measured on clips of a corpus whose originals were sampled at 16 kHz or more, human and AI-generated, of about a hundred sources',
    '(`npm run bench:reasons`, [bench/results/reasons.json](../bench/results/reasons.json)): how many get the reason, of those of',
    'which it can be told.',
    '',
    '| Condition | `band_limited` | `low_snr` |',
    '|---|---|---|',
    ...measuredRows,
    '',
    'This page is made from `src/verdict/reasons.ts` and those results by `npm run docs`.',
    '',
  ].join('\n');
}
