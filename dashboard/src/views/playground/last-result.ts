// SPDX-License-Identifier: Apache-2.0
import type { Outcome } from './analysis.js';
import type { Recording } from './recording.js';

export interface Done {
  readonly is: 'done';
  /** Counts analyses. */
  readonly number: number;
  readonly recording: Recording;
  /** One, or two to compare. */
  readonly outcomes: readonly Outcome[];
  /** The failure of the second model. */
  readonly error?: unknown;
}

const STORED_AS = 'veravox-last-result';
/** Browsers keep about 5 million characters for a site: ten hours of windows. */
const MOST_CHARS = 4_000_000;

/**
 * Keeps a result for this tab, through a reload or the detour of a sign-in at a provider. The recording itself is not kept: the
 * reader has it.
 */
export function rememberResult(userId: string, { number, recording, outcomes }: Done): void {
  const text = JSON.stringify({ userId, number, name: recording.name, bytes: recording.bytes, outcomes });
  forgetResult();
  try {
    if (text.length <= MOST_CHARS) sessionStorage.setItem(STORED_AS, text);
  } catch {
    // No room, or a browser that stores nothing: then it lasts as long as the page.
  }
}

export const forgetResult = (): void => sessionStorage.removeItem(STORED_AS);

/** The user's last result in this tab; undefined if there is none. */
export function lastResult(userId: string): Done | undefined {
  const text = sessionStorage.getItem(STORED_AS);
  if (text === null) return undefined;
  const stored = JSON.parse(text);
  if (stored.userId !== userId) {
    forgetResult();
    return undefined;
  }
  const { number, name, bytes, outcomes } = stored;
  return { is: 'done', number, recording: { name, bytes, file: undefined, link: undefined }, outcomes };
}
