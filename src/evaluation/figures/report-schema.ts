// SPDX-License-Identifier: Apache-2.0
import {
  constant,
  count,
  differenceInterval,
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
  '95 % bootstrap interval: whole generators, speakers or sources are resampled, never single clips. If that changes nothing, such as without any error, the Wilson interval with them as samples.';
const WILSON = '95 % Wilson interval, which assumes independent clips.';

const figureMembers = { value: number('The figure.'), interval_95: interval(OVER_UNITS) };
export const figure = (description: string) => object(description, figureMembers);

const shareMembers = {
  count: count('The number.'),
  of: count('The total.'),
  value: share('The share.'),
  interval_95: interval(WILSON),
};
export const shareOf = (description: string) => object(description, shareMembers);

export const errorShare = (description: string) =>
  object(description, { ...shareMembers, interval_95_units: interval(OVER_UNITS) });

export const listedShare = (description: string) =>
  object(description, {
    ...shareMembers,
    interval_95_units: orNull(interval(`${OVER_UNITS.slice(0, -1)}; null with fewer than five of them.`)),
  });

export const groupClass = (description: string) =>
  object(description, {
    count: count('Number of clips or trials.'),
    mean_score: share('Their mean score; near 1 is right for AI-generated clips, near 0 for human ones.'),
    errors: shareOf('Wrong verdicts at the threshold: human clips at or above it, AI-generated ones below.'),
    eer: orNull(
      share(
        'Equal error rate of this group against all clips or trials of the other class; null without any.',
      ),
    ),
    auc: orNull(
      share(
        'AUC against all of the other class: how often a positive has the higher score if one of each is drawn; null without any.',
      ),
    ),
  });

export const wrongSample = object('One of them.', {
  name: text('Its path or trial.'),
  label: text('Its class, as in the list.'),
  score: share('Its score.'),
  distance: share('Distance of the score from the threshold, as a share of that side of the scale.'),
  confidence: orNull(
    share('Confidence of the verdict; null for trials, and if the scores in the list lack it.'),
  ),
  reason: orNull(
    text(
      'Reason of the verdict (docs/reasons.md); null if it has none, or if the scores in the list lack it.',
    ),
  ),
  system: orNull(text('The generator, if the list names it.')),
  source: orNull(text('The source, if the list names it.')),
});

export const difference = (description: string) =>
  object(description, {
    model: share('Of the evaluated model.'),
    other: share('Of the other model.'),
    value: number('That of the other model less that of the evaluated one.'),
    interval_95: orNull(
      differenceInterval(
        '95 % interval of the difference, by a paired bootstrap: whole systems and sources are drawn, the same for both models; null with fewer than five of them in a class.',
      ),
    ),
  });

const mcnemar = (description: string) =>
  object(description, {
    only_model: count('Rows on which only the evaluated model is wrong.'),
    only_other: count('Rows on which only the other model is wrong.'),
    p_value: share(
      'Exact two-sided p-value: how probable at least so uneven a split is if both err equally often. It assumes independent rows.',
    ),
  });

export const comparison = object('Another model on the same rows; null if none was given.', {
  id: text('Its id.'),
  fingerprint: text('Hash of everything that its scores depend on.'),
  threshold: share('Its threshold.'),
  compared: count('Rows with a score of both models; nothing else is part of the comparison.'),
  left_out: count('Rows that only the evaluated model has scored.'),
  why_no_intervals: orNull(text('Why there is no interval; null if there is one.')),
  eer: orNull(difference('Equal error rate.')),
  auc: orNull(difference('AUC.')),
  fpr: orNull(difference('Negatives called positive, at the thresholds.')),
  fnr: orNull(difference('Positives called negative, at the thresholds.')),
  mcnemar: object("McNemar's test of the errors at the thresholds.", {
    all: mcnemar('All rows.'),
    positive: mcnemar('Positives.'),
    negative: mcnemar('Negatives.'),
  }),
});

/** JSON Schema of the report of `veravox evaluate --report`. */
export const reportSchema = object('The report.', {
  schema_version: constant(2, 'Increased if a member changes its meaning or is removed.'),
  veravox_version: text('Version that made the report.'),
  created_at: time('Creation time, in UTC.'),
  task: oneOf(
    ['detection', 'verification'],
    'The kind of list: clips that are human or AI-generated, or trials with the same or different speakers.',
  ),
  classes: object('Names of the classes.', {
    positive: text('`spoof` or `target`: the class for high scores.'),
    negative: text('`bonafide` or `nontarget`.'),
  }),
  list: object('The evaluated list.', {
    file: text("The file's name, without its folder."),
    sha256: text('SHA-256 of the file.'),
    where: texts('Conditions on rows.'),
    rows: count('Rows that meet them.'),
  }),
  model: object('The model behind the scores.', {
    id: text('Its id in the manifest.'),
    sha256: text('SHA-256 of its file.'),
    fingerprint: text('Hash of everything that scores depend on: weights, recipe, calibration.'),
  }),
  threshold_name: orNull(text('The operating point given as threshold; null for a number.')),
  silence_threshold: orNull(
    number(
      'Windows with a higher percentage of non-speech were skipped; null for verification and for scores from the list.',
    ),
  ),
  bootstrap: object('How the intervals over units were computed.', {
    rounds: count('Number of resamplings.'),
    seed: count('Seed of the random numbers.'),
  }),
  run: orNull(
    object('Effort; null if the scores came from the list.', {
      provider: text('`cpu`, `cuda` or `webgpu`.'),
      files: count('Analysed files, or recordings joined from several.'),
      audio_s: number('Seconds of audio in them, without failed ones.'),
      elapsed_s: number('Seconds from start to end.'),
    }),
  ),
  counts: object('Sample sizes.', {
    positive: count('Scored positives.'),
    negative: count('Scored negatives.'),
    failed: count('Rows without a score; no figure includes them.'),
    positive_units: count(
      'Generators or speakers among the positives; with few of them, intervals mean little.',
    ),
    negative_units: count('Speakers or sources among the negatives.'),
  }),
  failures: list(
    'Rows without a score by reason, most frequent first.',
    object('One reason.', {
      code: text('Key in docs/errors.md, or a code of the operating system, such as ENOENT.'),
      positive: count('Positives among them.'),
      negative: count('Negatives among them.'),
      files: list(
        'All of them.',
        object('One row.', { name: text('Its path or trial.'), message: text('What was wrong.') }),
      ),
    }),
  ),
  overall: object('Figures without a threshold; null if a class has no samples.', {
    eer: orNull(
      object('Equal error rate.', {
        ...figureMembers,
        threshold: share('Threshold at which both classes have the same error rate.'),
      }),
    ),
    auc: orNull(figure('Area under the receiver operating characteristic.')),
    eer_groups_alike: orNull(
      figure(
        'Equal error rate with equal weight for every system and source, whatever its number of clips; null if the list names fewer than five of a class.',
      ),
    ),
    auc_groups_alike: orNull(figure('AUC with the same weights.')),
    groups_alike_why_not: orNull(text('Why there are no such figures; null if there are.')),
    min_dcf: orNull(
      list(
        'Lowest detection cost over all thresholds, normalised: 1 is as bad as the same answer for everything.',
        object('One set of costs.', {
          ...figureMembers,
          name: text('The benchmark that defines them.'),
          c_miss: number('Cost of a miss, as the benchmark defines it.'),
          c_fa: number('Cost of a false alarm, as the benchmark defines it.'),
          prior: share('Prior probability of spoofs, or of the right speaker.'),
        }),
      ),
    ),
  }),
  at_threshold: object('Errors at the threshold.', {
    threshold: share('Scores at or above it count as positive.'),
    accuracy: shareOf('Correct verdicts, with the class frequencies of the list.'),
    fpr: orNull(errorShare('Negatives called positive: human clips called spoofed, or strangers accepted.')),
    fnr: orNull(errorShare('Positives called negative: spoofs called human, or the right speaker rejected.')),
  }),
  thresholds: list(
    'Errors at the tenths of the scale, at the threshold, and at thresholds for those shares of false positives that the list supports; empty if a class has no samples.',
    object('One threshold.', {
      threshold: share('Scores at or above it count as positive.'),
      target_fpr: orNull(
        share('The share of false positives that it was found for on this list; else null.'),
      ),
      fpr: listedShare('Negatives called positive.'),
      fnr: listedShare('Positives called negative.'),
    }),
  ),
  thresholds_not_given: object('What the list has too few clips, systems, speakers or sources for.', {
    targets: list(
      'Shares of false positives without a threshold.',
      object('One share.', {
        target_fpr: share('The share.'),
        why_not: text('Why there is no threshold.'),
      }),
    ),
    fpr_intervals_why_not: orNull(text('Why false positives have no intervals; null if they have.')),
    fnr_intervals_why_not: orNull(text('Why false negatives have no intervals; null if they have.')),
  }),
  most_wrong: list(
    'Wrong verdicts with the scores farthest from the threshold, at most 20 of each class, the farthest first.',
    wrongSample,
  ),
  comparison: orNull(comparison),
  inside_one_source: orNull(
    object(
      'AUC within sources that have both classes, where recordings share all other conditions; null if no source has both.',
      {
        value: orNull(share('Mean over the sources; null if there are fewer than five.')),
        interval_95: orNull(interval(OVER_UNITS)),
        why_not: orNull(text('Why there is no mean; null if there is.')),
        sources: list(
          'Each source.',
          object('One source.', {
            source: text('Its name.'),
            positive: count('Positives in it.'),
            negative: count('Negatives in it.'),
            auc: share('AUC of positives against negatives.'),
          }),
        ),
      },
    ),
  ),
  calibration: object('How well scores work as probabilities, with the class frequencies of the list.', {
    expected_calibration_error: share('Mean distance between score and share of positives over ten bins.'),
    brier: share('Mean squared distance from the truth.'),
    log_loss: number('Mean of -ln of the probability of the true class.'),
    bins: list(
      'Tenths of the scale with at least one score.',
      object('One bin.', {
        from: share('Lowest score.'),
        to: share('Start of the next bin.'),
        count: count('Scores in it.'),
        mean_score: share('Their mean.'),
        positive_share: share('Share of positives among them.'),
        interval_95: interval(WILSON),
      }),
    ),
  }),
  groups: list(
    'Rows with the same value in a column.',
    object('One group.', {
      column: text(
        'The column; `duration` is derived from the measured duration, `reason` is that of the verdict.',
      ),
      value: text('The value.'),
      positive: orNull(
        groupClass(
          'The AI-generated clips, or trials of the right speaker, with this value; null without any.',
        ),
      ),
      negative: orNull(
        groupClass('The human clips, or trials of strangers, with this value; null without any.'),
      ),
      within: orNull(
        object('Its positives against its own negatives; null if it lacks either.', {
          eer: share('Equal error rate.'),
          auc: share('AUC.'),
        }),
      ),
    }),
  ),
  histogram: object('Samples per twentieth of the scale.', {
    positive: integers('Numbers of positives.'),
    negative: integers('Numbers of negatives.'),
  }),
  curve: list(
    'Detection error trade-off by rising threshold, thinned for drawing.',
    object('One point.', {
      threshold: share('Scores at or above it count as positive.'),
      fpr: share('Negatives called positive.'),
      fnr: share('Positives called negative.'),
    }),
  ),
});
