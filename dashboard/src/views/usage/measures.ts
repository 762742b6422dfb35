// SPDX-License-Identifier: Apache-2.0
import { bytesInWords } from '../../logic/bytes.js';
import { durationInWords, roundLengthsS } from '../../logic/duration.js';
import { count } from '../../logic/formats.js';
import type { Measure } from '../../logic/usage-series.js';

interface MeasureText {
  readonly title: string;
  format(value: number): string;
  /** For the axis of a plot. */
  readonly steps?: readonly number[];
}

/** The title and format of each measure. */
export const measureTexts: Readonly<Record<Measure, MeasureText>> = {
  requests: { title: 'Requests', format: count },
  errors: { title: 'Errors', format: count },
  audio_s: { title: 'Audio', format: (seconds) => durationInWords(seconds, 'h'), steps: roundLengthsS },
  windows: { title: 'Windows', format: count },
  bytes: { title: 'Received', format: bytesInWords },
};
