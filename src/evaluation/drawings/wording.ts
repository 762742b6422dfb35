// SPDX-License-Identifier: Apache-2.0
import type { Task } from '../figures/sample.js';

/** The two kinds of error, without jargon. */
export const errorNames: Readonly<Record<Task, { readonly fpr: string; readonly fnr: string }>> = {
  detection: { fpr: 'human called spoofed', fnr: 'spoofed called human' },
  verification: { fpr: 'strangers accepted', fnr: 'right speaker rejected' },
};

/** Meanings of a score. */
export const scoreNames: Readonly<Record<Task, string>> = {
  detection: 'score: how likely the voice is AI-generated',
  verification: 'similarity',
};

/** The rows of a list. */
export const rowNames: Readonly<Record<Task, string>> = { detection: 'clips', verification: 'trials' };
