// SPDX-License-Identifier: Apache-2.0

/** The sum of a whole job, whatever the number of workers that had it. */
export interface DoneWork {
  readonly bytes: number;
  readonly audioS: number;
  readonly scoredWindows: number;
  readonly skippedS: number;
  /** As the answer names it. */
  readonly model: string;
  /** Of the models that answered; never aliases. */
  readonly modelIds: readonly string[];
}
