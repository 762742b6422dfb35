// SPDX-License-Identifier: Apache-2.0
import type { Task } from '../evaluation/figures/sample.js';

export const percent = (share: number, decimals = 1): string => `${(share * 100).toFixed(decimals)} %`;

/** The two kinds of error, without jargon. */
export const errorNames: Readonly<Record<Task, { readonly fpr: string; readonly fnr: string }>> = {
  detection: { fpr: 'human called spoofed', fnr: 'spoofed called human' },
  verification: { fpr: 'strangers accepted', fnr: 'right speaker rejected' },
};

/** The rows of a list. */
export const rowNames: Readonly<Record<Task, string>> = { detection: 'clips', verification: 'trials' };
