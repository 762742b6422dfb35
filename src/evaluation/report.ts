// SPDX-License-Identifier: Apache-2.0
//
// What an evaluation found, in the form in which `--json` writes it. report-schema.ts says the same as a JSON Schema, from
// which the table in docs/evaluate.md is made. Rates, shares and scores are from 0 to 1; intervals are of 95 %.
import type { Interval } from './proportion.js';
import type { ClassNames, Task } from './sample.js';

/** A figure with its bootstrap interval over units. */
export interface Figure {
  readonly value: number;
  readonly interval_95: Interval;
}

export interface EqualError extends Figure {
  /** Where the two error rates are equal. */
  readonly threshold: number;
}

export interface DetectionCost extends Figure {
  readonly name: string;
  readonly c_miss: number;
  readonly c_fa: number;
  readonly prior: number;
}

/** How many of how many, with the Wilson interval, which takes samples for independent. */
export interface Share {
  readonly count: number;
  readonly of: number;
  readonly value: number;
  readonly interval_95: Interval;
}

export interface ErrorShare extends Share {
  /** The bootstrap interval over units, which are not independent. */
  readonly interval_95_units: Interval;
}

/** The samples of one class in a group. */
export interface GroupClass {
  readonly count: number;
  readonly mean_score: number;
  /** Those on the wrong side of the threshold. */
  readonly errors: Share;
  /** Against all samples of the other class; null where there is none. */
  readonly eer: number | null;
  readonly auc: number | null;
}

export interface Group {
  readonly column: string;
  readonly value: string;
  readonly positive: GroupClass | null;
  readonly negative: GroupClass | null;
  /** Of the group's own positives against its own negatives; null where it lacks either. */
  readonly within: { readonly eer: number; readonly auc: number } | null;
}

export interface Failure {
  /** As in docs/errors.md, or what the operating system says, such as ENOENT. */
  readonly code: string;
  readonly positive: number;
  readonly negative: number;
  readonly files: readonly { readonly name: string; readonly message: string }[];
}

/** The part that follows from the scores alone. */
export interface Findings {
  readonly task: Task;
  readonly classes: ClassNames;
  readonly counts: {
    readonly positive: number;
    readonly negative: number;
    readonly failed: number;
    /** How many generators, speakers and the like the bootstrap draws from: intervals over few of them say little. */
    readonly positive_units: number;
    readonly negative_units: number;
  };
  readonly failures: readonly Failure[];
  /** Each is null where a class has no sample. */
  readonly overall: {
    readonly eer: EqualError | null;
    readonly auc: Figure | null;
    /** With every system and source counted alike, however many samples it has; null where the list names none. */
    readonly eer_groups_alike: Figure | null;
    readonly auc_groups_alike: Figure | null;
    readonly min_dcf: readonly DetectionCost[] | null;
  };
  readonly at_threshold: {
    readonly threshold: number;
    readonly accuracy: Share;
    /** Negatives at or above the threshold; null where there is no negative. */
    readonly fpr: ErrorShare | null;
    /** Positives below it. */
    readonly fnr: ErrorShare | null;
  };
  /** Sources with both classes, such as the human and the generated clips of one page; null where there is none. */
  readonly inside_one_source:
    | (Figure & {
        readonly sources: readonly {
          readonly source: string;
          readonly positive: number;
          readonly negative: number;
          readonly auc: number;
        }[];
      })
    | null;
  readonly calibration: {
    readonly expected_calibration_error: number;
    readonly brier: number;
    readonly log_loss: number;
    readonly bins: readonly {
      readonly from: number;
      readonly to: number;
      readonly count: number;
      readonly mean_score: number;
      readonly positive_share: number;
      readonly interval_95: Interval;
    }[];
  };
  readonly groups: readonly Group[];
  /** Samples per twentieth of the scale. */
  readonly histogram: { readonly positive: readonly number[]; readonly negative: readonly number[] };
  /** Points of the detection error trade-off curve by rising threshold, thinned; empty where a class has no sample. */
  readonly curve: readonly { readonly threshold: number; readonly fpr: number; readonly fnr: number }[];
}

export interface Report extends Findings {
  readonly schema_version: 1;
  readonly veravox_version: string;
  readonly created_at: string;
  readonly list: {
    readonly file: string;
    readonly sha256: string;
    readonly where: readonly string[];
    readonly rows: number;
  };
  readonly model: { readonly id: string; readonly sha256: string; readonly fingerprint: string };
  /** The operating point that the threshold was asked for by; null for a number. */
  readonly threshold_name: string | null;
  /** Percent; null for verification, which has its own rule, and where scores were read. */
  readonly silence_threshold: number | null;
  readonly bootstrap: { readonly rounds: number; readonly seed: number };
  /** Null where the scores were read instead of computed. */
  readonly run: {
    readonly provider: string;
    readonly files: number;
    readonly audio_s: number;
    readonly elapsed_s: number;
  } | null;
}
