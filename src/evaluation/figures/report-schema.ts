// SPDX-License-Identifier: Apache-2.0

import {
  constant,
  count,
  integers,
  interval,
  list,
  number,
  object,
  oneOf,
  orNull,
  share,
  text,
  texts,
  time,
} from './described-schema.js';

const OVER_UNITS =
  '95 % bootstrap interval: generators, speakers or sources are drawn again, never single clips of them.';
const WILSON = '95 % Wilson interval, which takes clips for independent.';

const figureMembers = { value: number('The figure.'), interval_95: interval(OVER_UNITS) };
export const figure = (description: string) => object(description, figureMembers);

const shareMembers = {
  count: count('How many.'),
  of: count('Of how many.'),
  value: share('The share.'),
  interval_95: interval(WILSON),
};
export const shareOf = (description: string) => object(description, shareMembers);

export const errorShare = (description: string) =>
  object(description, { ...shareMembers, interval_95_units: interval(OVER_UNITS) });

export const groupClass = (description: string) =>
  object(description, {
    count: count('How many there are.'),
    mean_score: share('Their mean score.'),
    errors: shareOf('Those on the wrong side of the threshold.'),
    eer: orNull(share('Equal error rate against all of the other class.')),
    auc: orNull(share('AUC against all of the other class.')),
  });

/** JSON Schema of what `veravox evaluate --json` writes. */
export const reportSchema = object('The report.', {
  schema_version: constant(1, 'Raised when a member changes its meaning or goes.'),
  veravox_version: text('What made the report.'),
  created_at: time('When, in UTC.'),
  task: oneOf(
    ['detection', 'verification'],
    'What the list is of: clips that are human or not, or trials of one speaker or two.',
  ),
  classes: object('What the classes are called.', {
    positive: text('`spoof` or `target`: high scores are meant for these.'),
    negative: text('`bonafide` or `nontarget`.'),
  }),
  list: object('The list that was evaluated.', {
    file: text("The file's name, without its folder."),
    sha256: text('Of the file.'),
    where: texts('The conditions that rows had to fulfil.'),
    rows: count('Rows that fulfil them.'),
  }),
  model: object('The model that gave the scores.', {
    id: text('Its id in the manifest.'),
    sha256: text('Of its file.'),
    fingerprint: text('Of all that a score depends on: weights, recipe, calibration.'),
  }),
  threshold_name: orNull(text('The operating point that the threshold was asked for by; null for a number.')),
  silence_threshold: orNull(
    number(
      'Percent of non-speech above which a window was left out; null for verification and where scores were read.',
    ),
  ),
  bootstrap: object('How intervals over units were made.', {
    rounds: count('How often all units were drawn again.'),
    seed: count('What the draws follow from.'),
  }),
  run: orNull(
    object('What it took; null where the scores were read from the list.', {
      provider: text('`cpu` or `cuda`.'),
      files: count('Files, or recordings joined of several, that were analysed.'),
      audio_s: number('Seconds of audio in those that could be analysed.'),
      elapsed_s: number('Seconds from the first to the last.'),
    }),
  ),
  counts: object('What the figures are of.', {
    positive: count('Scored positives.'),
    negative: count('Scored negatives.'),
    failed: count('Rows without a score; they are in no figure.'),
    positive_units: count(
      'Generators or speakers among the positives: intervals over few of them say little.',
    ),
    negative_units: count('Speakers or sources among the negatives.'),
  }),
  failures: list(
    'Rows without a score, by reason, the most frequent first.',
    object('One reason.', {
      code: text('As in docs/errors.md, or of the operating system, such as ENOENT.'),
      positive: count('Positives among them.'),
      negative: count('Negatives among them.'),
      files: list(
        'All of them.',
        object('One row.', { name: text('Its path or trial.'), message: text('What was wrong with it.') }),
      ),
    }),
  ),
  overall: object('Figures that need no threshold; each is null where a class has no sample.', {
    eer: orNull(
      object('Equal error rate.', {
        ...figureMembers,
        threshold: share('Where as many of either class are judged wrongly.'),
      }),
    ),
    auc: orNull(figure('Area under the receiver operating characteristic.')),
    eer_groups_alike: orNull(
      figure(
        'Equal error rate with every system and source counted alike, however many clips it has; null where the list names none.',
      ),
    ),
    auc_groups_alike: orNull(figure('AUC counted likewise.')),
    min_dcf: orNull(
      list(
        'Lowest detection cost over all thresholds, normalised: 1 is as bad as one answer for all.',
        object('One setting of the costs.', {
          ...figureMembers,
          name: text('The benchmark that fixed it.'),
          c_miss: number('Cost of a miss, in the words of the benchmark.'),
          c_fa: number('Cost of a false alarm, likewise.'),
          prior: share('Prior of spoofs, or of the right speaker.'),
        }),
      ),
    ),
  }),
  at_threshold: object('Errors at the threshold.', {
    threshold: share('Scores at or above it count as positive.'),
    accuracy: shareOf('Judged rightly, over both classes as frequent as in the list.'),
    fpr: orNull(errorShare('Negatives called positive: human clips called spoofed, or strangers accepted.')),
    fnr: orNull(errorShare('Positives called negative: spoofs that pass, or the right speaker rejected.')),
  }),
  inside_one_source: orNull(
    object(
      'Mean AUC inside the sources that have both classes: there the recordings have the rest in common.',
      {
        ...figureMembers,
        sources: list(
          'Each of them.',
          object('One source.', {
            source: text('Its name.'),
            positive: count('Positives in it.'),
            negative: count('Negatives in it.'),
            auc: share('AUC of the former against the latter.'),
          }),
        ),
      },
    ),
  ),
  calibration: object('How far scores are probabilities, with the classes as frequent as in the list.', {
    expected_calibration_error: share('Mean distance of score and share of positives over ten bins.'),
    brier: share('Mean squared distance from the truth.'),
    log_loss: number('Mean of -ln of the probability given to the truth.'),
    bins: list(
      'Tenths of the scale that hold a score.',
      object('One bin.', {
        from: share('Lowest score.'),
        to: share('The next bin begins here.'),
        count: count('Scores in it.'),
        mean_score: share('Their mean.'),
        positive_share: share('Share of positives among them.'),
        interval_95: interval(WILSON),
      }),
    ),
  }),
  groups: list(
    'What has one value in one column.',
    object('One group.', {
      column: text('The column; `duration` is made of the measured duration.'),
      value: text('The value.'),
      positive: orNull(groupClass('The positives in it; null where there is none.')),
      negative: orNull(groupClass('The negatives in it; null where there is none.')),
      within: orNull(
        object('Of its own positives against its own negatives; null where it lacks either.', {
          eer: share('Equal error rate.'),
          auc: share('AUC.'),
        }),
      ),
    }),
  ),
  histogram: object('Samples per twentieth of the scale.', {
    positive: integers('Of the positives.'),
    negative: integers('Of the negatives.'),
  }),
  curve: list(
    'The detection error trade-off by rising threshold, thinned for drawing.',
    object('One point.', {
      threshold: share('Scores at or above it count as positive.'),
      fpr: share('Negatives called positive.'),
      fnr: share('Positives called negative.'),
    }),
  ),
});
