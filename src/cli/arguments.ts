// SPDX-License-Identifier: Apache-2.0
//
// Arguments that several commands share.
import { type Command, InvalidArgumentError } from 'commander';
import { OPERATING_POINT_NAME, THRESHOLD_EXPECTED } from '../base/contract/operating-point-name.js';

export const thresholdHelp =
  'score from which a voice counts as AI-generated: 0 to 1, or the name of an operating point';
export const silenceHelp = 'skip windows with a higher percentage of non-speech, 0 to 100';

/** @param expected the accepted values in words, for the error message */
export function numberThat(isRight: (value: number) => boolean, expected: string): (given: string) => number {
  return (given) => {
    const value = numberIn(given);
    if (isRight(value)) return value;
    throw new InvalidArgumentError(`Expected ${expected} but received ${given}.`);
  };
}

export const within = (minimum: number, maximum: number): ((given: string) => number) =>
  numberThat((value) => value >= minimum && value <= maximum, `a number from ${minimum} to ${maximum}`);

/** A time in a recording, in seconds. */
export const anyTime = numberThat(
  (value) => value >= 0 && Number.isFinite(value),
  'a number of seconds from 0 on',
);

/** Ends the command if the region ends before it starts. */
export function requireRegion(
  { start = 0, end }: { readonly start?: number; readonly end?: number },
  command: Command,
): void {
  if (end === undefined || end > start) return;
  command.error(
    `error: Expected a number of seconds after --start, which is ${start}, for --end but received ${end}.`,
  );
}

/** A number from 0 to 1, or a text with the form of an operating point's name. */
export function parseThreshold(given: string): number | string {
  if (OPERATING_POINT_NAME.test(given)) return given;
  const value = numberIn(given);
  if (value >= 0 && value <= 1) return value;
  throw new InvalidArgumentError(`Expected ${THRESHOLD_EXPECTED} but received ${given}.`);
}

const numberIn = (given: string): number => (given.trim() === '' ? Number.NaN : Number(given));
