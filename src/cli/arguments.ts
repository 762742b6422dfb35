// SPDX-License-Identifier: Apache-2.0
//
// What options of several commands take.
import { InvalidArgumentError } from 'commander';
import { OPERATING_POINT_NAME, THRESHOLD_EXPECTED } from '../base/contract/operating-point-name.js';

export const thresholdHelp =
  'score from which a voice counts as AI-generated: 0 to 1, or the name of an operating point';
export const silenceHelp = 'windows with more non-speech than this are not analysed, 0 to 100';

/** @param expected what `isRight` accepts, in words, for whoever gave something else */
export function numberThat(isRight: (value: number) => boolean, expected: string): (given: string) => number {
  return (given) => {
    const value = numberIn(given);
    if (isRight(value)) return value;
    throw new InvalidArgumentError(`Expected ${expected} but received ${given}.`);
  };
}

export const within = (minimum: number, maximum: number): ((given: string) => number) =>
  numberThat((value) => value >= minimum && value <= maximum, `a number from ${minimum} to ${maximum}`);

/** A number from 0 to 1, or what may be the name of an operating point. */
export function parseThreshold(given: string): number | string {
  if (OPERATING_POINT_NAME.test(given)) return given;
  const value = numberIn(given);
  if (value >= 0 && value <= 1) return value;
  throw new InvalidArgumentError(`Expected ${THRESHOLD_EXPECTED} but received ${given}.`);
}

const numberIn = (given: string): number => (given.trim() === '' ? Number.NaN : Number(given));
