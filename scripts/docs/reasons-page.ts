// SPDX-License-Identifier: Apache-2.0
import { reasons } from '../../src/analysis/verdict/reasons.js';

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
    '`global.reason` is null if nothing speaks against the verdict. Otherwise it is the first of these that applies. Faults of the',
    'recording come before oddities of its scores, which they may explain:',
    '',
    '| Reason | When |',
    '|---|---|',
    ...rows,
    '',
    '`band_limited` and `low_snr` follow from the levels of 10 ms frames with and without speech ([vad.md](vad.md)), over the whole',
    'file and after resampling to 16 kHz. Silences and duration make no difference. Nor do sample rate, format and bit rate by',
    'themselves: only the remaining quality of the voice counts. Both need at least a second of speech, and `low_snr` also 0.3 s of',
    'pauses. Speech below about -50 dBFS may be too close to the noise of 16 bits to show a band limit. Other voices in the',
    'background count as speech, not as noise.',
    '',
    'The share of clips that get each reason, among those with enough speech and pauses. Measured on human and AI-generated clips of',
    'about a hundred sources, with originals sampled at 16 kHz or more (`npm run bench:reasons`,',
    '[bench/results/reasons.json](../bench/results/reasons.json)):',
    '',
    '| Condition | `band_limited` | `low_snr` |',
    '|---|---|---|',
    ...measuredRows,
    '',
    '`npm run docs` makes this page from `src/analysis/verdict/reasons.ts` and these results.',
    '',
  ].join('\n');
}
