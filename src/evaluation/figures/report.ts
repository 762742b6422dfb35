// SPDX-License-Identifier: Apache-2.0
//
// The types of an evaluation's report, derived from report-schema.ts.
import type { ValueOf } from './described-schema.js';
import type {
  comparison,
  difference,
  errorShare,
  figure,
  groupClass,
  listedShare,
  reportSchema,
  shareOf,
  wrongSample,
} from './report-schema.js';

export type Report = ValueOf<typeof reportSchema>;

/** A figure with its bootstrap interval over units. */
export type Figure = ValueOf<ReturnType<typeof figure>>;
export type EqualError = NonNullable<Report['overall']['eer']>;
export type DetectionCost = NonNullable<Report['overall']['min_dcf']>[number];

/** A number out of a number, with the Wilson interval, which takes samples for independent. */
export type Share = ValueOf<ReturnType<typeof shareOf>>;
/** With the bootstrap interval over units, which are not independent. */
export type ErrorShare = ValueOf<ReturnType<typeof errorShare>>;

/** The same, without the latter if there are too few units. */
export type ListedShare = ValueOf<ReturnType<typeof listedShare>>;

/** The samples of one class in a group. */
export type GroupClass = ValueOf<ReturnType<typeof groupClass>>;
export type Group = Report['groups'][number];
export type WrongSample = ValueOf<typeof wrongSample>;
export type Comparison = ValueOf<typeof comparison>;
export type Difference = ValueOf<ReturnType<typeof difference>>;
export type Failure = Report['failures'][number];

/** The part that follows from the scores alone. */
export type Findings = Omit<
  Report,
  | 'schema_version'
  | 'veravox_version'
  | 'created_at'
  | 'list'
  | 'model'
  | 'threshold_name'
  | 'silence_threshold'
  | 'bootstrap'
  | 'run'
  | 'comparison'
>;
