// SPDX-License-Identifier: Apache-2.0
import { reasons } from '../../src/analysis/verdict/reasons.js';

/** Result of a condition that `npm run bench reasons` applied to clips; null if unknown for all clips. */
export interface MeasuredCondition {
  readonly condition: string;
  readonly bandLimitedPercent: number | null;
  readonly lowSnrPercent: number | null;
}

interface Errors {
  readonly clips: number;
  readonly wrong_with?: number;
  readonly wrong_without?: number;
  readonly times?: number;
}

/** Stored results of training/judge/reasons.py. */
export interface ReasonErrors {
  readonly model: string;
  readonly served: Readonly<
    Record<string, Errors & Readonly<Record<'human_share' | 'generated_share', number>>>
  >;
  readonly candidates: readonly {
    readonly limit: number;
    readonly reason: string;
    readonly what: string;
    readonly human_share: number;
    readonly generated_share: number;
    readonly originals: Errors;
  }[];
  readonly conditions: Readonly<
    Record<
      string,
      {
        readonly human_flagged: Moved;
        readonly generated_passing: Moved;
        readonly with: Readonly<Record<string, number>>;
        readonly with_any: number;
      }
    >
  >;
}

interface Moved {
  readonly clean: number;
  readonly through: number;
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
  readonly bound_by_clip: number;
  readonly bound_by_page_of_all: number;
  readonly calibration: Verdicts;
  readonly judging: Verdicts;
}

const percentText = (percent: number | null): string => (percent === null ? '' : `${percent} %`);
const shareText = (share: number | undefined): string =>
  share === undefined ? 'too few clips' : `${(100 * share).toFixed(1)} %`;

const candidateRow = ({ reason, limit, what, originals, ...shares }: ReasonErrors['candidates'][number]) =>
  `| \`${reason}\` | ${reason === 'mixed_content' ? what : `${limit} ${what}`} | ${shareText(shares.human_share)} | ` +
  `${shareText(shares.generated_share)} | ${shareText(originals.wrong_with)} | ${shareText(originals.wrong_without)} |`;

const movedText = ({ clean, through }: Moved): string =>
  `${shareText(clean)} to ${shareText(through)} (${(through / clean).toFixed(1)} times)`;

// A bound rounded down would promise too much.
const boundText = (bound: number): string => shareText(Math.ceil(bound * 1000) / 1000);

function abstentionRow({ id, calibration, judging, ...bounds }: Abstention): string {
  const cells = [
    id,
    `**${boundText(bounds.bound_by_page)}**`,
    `${shareText(calibration.risk_by_page)}, ${shareText(judging.risk_by_page)}`,
    `${shareText(calibration.given_by_page)}, ${shareText(judging.given_by_page)}`,
    boundText(bounds.bound_by_page_of_all),
    boundText(bounds.bound_by_clip),
    `${shareText(judging.wrong_with_reason)}, ${shareText(judging.wrong_without_reason)}`,
  ];
  return `| ${cells.join(' | ')} |`;
}

/** `docs/reasons.md`. */
export function reasonsPage(
  measured: readonly MeasuredCondition[],
  errors: ReasonErrors,
  abstentions: readonly Abstention[],
): string {
  const rows = Object.entries(reasons).map(([reason, { when }]) => `| \`${reason}\` | ${when} |`);
  const measuredRows = measured.map(
    ({ condition, bandLimitedPercent, lowSnrPercent }) =>
      `| ${condition} | ${percentText(bandLimitedPercent)} | ${percentText(lowSnrPercent)} |`,
  );
  const conditionRows = Object.entries(errors.conditions).map(
    ([name, condition]) =>
      `| ${name} | ${movedText(condition.human_flagged)} | ${movedText(condition.generated_passing)} | ` +
      `${shareText(condition.with.band_limited)} | ${shareText(condition.with.low_bit_rate)} | ` +
      `${shareText(condition.with.low_snr)} | ${shareText(condition.with_any)} |`,
  );
  const { all, judging } = errors.served as Record<'all' | 'judging', ReasonErrors['served'][string]>;
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
    'speakers, microphones and generators. With so few pages, the bound is far above what was measured. On all pages, the same test',
    'gives a much lower bound. It is no promise, because the shares of networks and the calibration come from these pages, too.',
    '',
    '**The bound says nothing about recordings of another kind**: a generator that appeared later, another language, a codec or',
    'noise. Nobody can draw these beforehand. The second figure of each pair, from the pages that judge, shows how the promise held',
    'on pages that had no part in the bound. With another `threshold` the bound does not apply. To measure on recordings like yours, use',
    '[`veravox evaluate`](evaluate.md).',
    '',
    '| Detector | At most wrong | Measured there, on the judging pages | Verdicts given there, on the judging pages | The same test on all 107 pages | Bound for more clips of the same pages | Wrong with a reason, without one (judging pages, clips of systems and sources alike) |',
    '|---|---|---|---|---|---|---|',
    ...abstentions.map(abstentionRow),
    '',
    'By the test of a bet against the risk, page by page; by Clopper and Pearson for clips (`judge.abstention` in',
    '[training/README.md](../training/README.md#measure-it)). The manifest entry of a detector has the threshold of `uncertain` and the',
    'bound ([`abstention`](models.md#abstention-of-a-detector)). The threshold is the same for all shipped detectors and was not',
    'fitted to these scores. For a detector without `abstention` there is no bound.',
    '',
    '## What is worth a reason',
    '',
    '**These tables, and those below, were measured before the detectors heard only what is audible**, with more networks and offsets by codec; the bounds',
    'above are of the present ones. The shares of clips that a rule picks still hold.',
    '',
    `Measured with ${errors.model} on all validation clips as published then: the share of clips that a rule picks, and how many`,
    'verdicts are wrong with and without it (systems and sources alike). Results: [bench/results/reason-errors.json](../bench/results/reason-errors.json).',
    '',
    '| Candidate | Limit | Human clips | Generated clips | Wrong with it | Wrong without it |',
    '|---|---|---|---|---|---|',
    // The clips of this table are WAV files, which have no codec.
    ...errors.candidates.filter((each) => each.human_share + each.generated_share > 0).map(candidateRow),
    '',
    '`uncertain` and `mixed_content` tell wrong verdicts from right ones best. Little speech and full scale are no reasons: verdicts',
    'are then wrong hardly more often than others. Few recordings as published have `band_limited`, those with `low_snr` are mostly human, and',
    'none of these WAV files has a codec, as `low_bit_rate` needs. But codecs and noise raise the errors of the same clips:',
    '',
    '| Through | Human clips called spoofed | Generated clips that pass | `band_limited` | `low_bit_rate` | `low_snr` | Any reason |',
    '|---|---|---|---|---|---|---|',
    ...conditionRows,
    '',
    'So `band_limited` warns of telephones, `low_bit_rate` of Opus as some messengers send it, and `low_snr` of noise at 15 dB and less.',
    'Verdicts on noisy recordings as published are wrong no more often than others, but noise that is added raises both errors. **No reason tells rooms.** At most low rates and for GSM, the [calibration by codec](models.md#calibrate-by-codec) undoes a part of the shift. If Opus was',
    'converted to another format, **nothing that the pipeline measures shows it**, and there is neither a reason nor an offset.',
    '',
    `Of all clips as published, ${shareText(all.human_share)} of the human and ${shareText(all.generated_share)} of the generated ones have a reason;`,
    `${shareText(all.wrong_with)} of verdicts with one are wrong, and ${shareText(all.wrong_without)} of those without (${all.times} times; ${judging.times} times on the`,
    'judging pages).',
    '',
    '## Telephones and noise',
    '',
    '`band_limited` and `low_snr` follow from the levels of the 10 ms frames with speech ([vad.md](vad.md)), over the whole',
    'file and after resampling to 16 kHz. Pauses and duration make no difference. Nor do sample rate, format and bit rate by',
    'themselves: only the remaining quality of the voice counts. Both need at least a second of speech. `low_snr` hears the noise between',
    'words and in weak sounds, leaving out digital silence. A noise gate that fades out hides it. Speech below about -50 dBFS may be too close to the noise of 16 bits to show a band limit. Other voices in the',
    'background count as speech, not as noise.',
    '',
    'The share of clips to which each applies, of those with at least 2 s of speech, which the table above does not ask for. The level of the',
    'noise is that below the loud samples. Measured on human and AI-generated clips of',
    'about a hundred sources, with originals sampled at 16 kHz or more (`npm run bench reasons`,',
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
