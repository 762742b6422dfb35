// SPDX-License-Identifier: Apache-2.0
import type { Task } from '../figures/sample.js';

/** What the two kinds of error are to a reader who knows no jargon. */
export const errorNames: Readonly<Record<Task, { readonly fpr: string; readonly fnr: string }>> = {
  detection: { fpr: 'human called spoofed', fnr: 'spoofed called human' },
  verification: { fpr: 'strangers accepted', fnr: 'right speaker rejected' },
};

/** What a score is. */
export const scoreNames: Readonly<Record<Task, string>> = {
  detection: 'score: probability of being AI-generated',
  verification: 'similarity',
};

/** What the rows of a list are. */
export const rowNames: Readonly<Record<Task, string>> = { detection: 'clips', verification: 'trials' };
