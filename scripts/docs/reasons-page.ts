// SPDX-License-Identifier: Apache-2.0
import { reasons } from '../../src/analysis/verdict/reasons.js';

/** Result of a condition that `npm run bench reasons` applied to clips; null if unknown for all clips. */
export interface MeasuredCondition {
  readonly condition: string;
  readonly bandLimitedPercent: number | null;
  readonly lowSnrPercent: number | null;
}

interface Verdicts {
  readonly human_with_reason: number;
  readonly wrong_with_reason: number;
  readonly wrong_without_reason: number;
  readonly given_by_page: number;
  readonly risk_by_page: number;
}

/** Stored results of training/judge/abstention.py. */
export interface Abstention {
  readonly id: string;
  readonly bound_by_page: number;
  readonly calibration: Verdicts;
  readonly judging: Verdicts;
}

const percentText = (percent: number | null): string => (percent === null ? '' : `${percent} %`);
const shareText = (share: number): string => `${(100 * share).toFixed(1)} %`;

// A bound rounded down would promise too much.
const boundText = (bound: number): string => shareText(Math.ceil(bound * 1000) / 1000);

function abstentionRow({ id, bound_by_page, calibration, judging }: Abstention): string {
  const cells = [
    id,
    `**${boundText(bound_by_page)}**`,
    `${shareText(calibration.risk_by_page)}, ${shareText(judging.risk_by_page)}`,
    `${shareText(calibration.given_by_page)}, ${shareText(judging.given_by_page)}`,
    `${shareText(judging.wrong_with_reason)}, ${shareText(judging.wrong_without_reason)}`,
  ];
  return `| ${cells.join(' | ')} |`;
}

/** `docs/reasons.md`. */
export function reasonsPage(
  measured: readonly MeasuredCondition[],
  abstentions: readonly Abstention[],
): string {
  const rows = Object.entries(reasons).map(([reason, { when }]) => `| \`${reason}\` | ${when} |`);
  const measuredRows = measured.map(
    ({ condition, bandLimitedPercent, lowSnrPercent }) =>
      `| ${condition} | ${percentText(bandLimitedPercent)} | ${percentText(lowSnrPercent)} |`,
  );
  return [
    '# Reasons',
    '',
    '`global.reason` is null if nothing speaks against the verdict. Otherwise it is the first of these that applies; those with',
    'the most errors come first:',
    '',
    '| Reason | When |',
    '|---|---|',
    ...rows,
    '',
    '## Verdicts without a reason',
    '',
    'How many of them are wrong? The bound holds with 95 % confidence, at the threshold 0.5, for human and AI-generated clips alike,',
    'on a page drawn at random from pages like those of the calibration part: a quarter of the validation repositories, 27 pages. Training',
    'saw none of these clips, but other clips of some of the pages. The unit is a page and not a clip, because clips of one page share',
    'speakers, microphones and generators. With so few pages, the bound is far above what was measured.',
    '',
    '**The bound says nothing about recordings of another kind**: a generator that appeared later, another language, a codec or',
    'noise. Nobody can draw these beforehand. The second figure of each pair, from the pages that judge, shows how the promise held',
    'on pages that had no part in the bound. With another `threshold` the bound does not apply. To measure on recordings like yours, use',
    '[`veravox evaluate`](evaluate.md).',
    '',
    '| Detector | At most wrong | Measured there, on the judging pages | Verdicts given there, on the judging pages | Wrong with a reason, without one (judging pages, clips of systems and sources alike) |',
    '|---|---|---|---|---|',
    ...abstentions.map(abstentionRow),
    '',
    'The bound comes from a betting test of the risk, page by page (`judge.abstention` in',
    '[training/README.md](../training/README.md#measure-it)). The manifest entry of a detector has the threshold of `uncertain` and the',
    'bound ([`abstention`](models.md#abstention-of-a-detector)). The threshold is the same for all shipped detectors and was not',
    'fitted to these scores. For a detector without `abstention` there is no bound.',
    '',
    '## What is worth a reason',
    '',
    'Doubts were tried on an earlier detector: how many clips they pick, and how many verdicts are wrong with and without them',
    '(`judge.reasons`, [results](../bench/results/reason-errors.json)). `uncertain` and `mixed_content` tell wrong verdicts from right ones',
    'best. `band_limited` warns of telephones, `low_bit_rate` of Opus as some messengers send it, and `low_snr` of noise at 15 dB and less:',
    'each raises the errors on the same clips. Little speech and full scale do not, so they are no reasons.',
    '',
    '**No reason tells rooms**, where most generated clips pass. Nor does one tell that Opus was converted to another format.',
    '',
    '## Telephones and noise',
    '',
    '`band_limited` and `low_snr` follow from the levels of the 10 ms frames with speech ([vad.md](vad.md)), over the whole',
    'file and after resampling to 16 kHz. Pauses and duration make no difference. Nor do sample rate, format and bit rate by',
    'themselves: only the remaining quality of the voice counts. Both need at least a second of speech. `low_snr` hears the noise between',
    'words and in weak sounds, leaving out digital silence. A noise gate that fades out hides it. Speech below about -50 dBFS may be too close to the noise of 16 bits to show a band limit. Other voices in the',
    'background count as speech, not as noise.',
    '',
    'The share of clips to which each applies, of those with at least 2 s of speech. The level of the noise is that below the loud samples.',
    'Measured on human and AI-generated clips of about a hundred sources, with originals sampled at 16 kHz or more (`npm run bench reasons`,',
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
