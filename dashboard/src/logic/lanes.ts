// SPDX-License-Identifier: Apache-2.0
import { type Conclusion, conclusionOf } from './conclusion.js';
import { stretchesOf } from './verdict.js';
import {
  type AnswerSegment,
  type AnswerStretch,
  type Result,
  type ScoredWindow,
  type Stretch,
  skippedIn,
  windowsOf,
} from './windows.js';

/** The verdict on all of a recording, or on one of its channels. */
export interface GlobalVerdict {
  readonly result: Result;
  readonly score: number;
  readonly confidence: number;
  readonly reason: string | null;
}

interface Judged {
  readonly channel?: number;
  /** Null if no window had enough speech. */
  readonly global: GlobalVerdict | null;
  readonly segments: readonly AnswerSegment[];
  readonly warnings: readonly string[];
  readonly stretches?: readonly AnswerStretch[] | undefined;
}

/** An answer on a recording. */
export interface JudgedRecording extends Judged {
  readonly channels?: readonly Judged[] | undefined;
}

/** The mix of a recording or one of its channels, ready to be shown. */
export interface Lane {
  /** Undefined for the mix. */
  readonly channel: number | undefined;
  readonly global: GlobalVerdict | null;
  readonly conclusion: Conclusion | undefined;
  /** By start. */
  readonly windows: readonly ScoredWindow[];
  readonly skipped: readonly Stretch[];
  /** The first ones. */
  readonly warnings: readonly string[];
  readonly warningCount: number;
  /** More about its windows. */
  readonly note?: string;
}

/** The mix, and the channels if there are several. */
export function lanesOf(recording: JudgedRecording, threshold: number, mostWarnings: number): Lane[] {
  const { channels = [], ...mix } = recording;
  // The only channel is the mix.
  return [mix, ...(channels.length > 1 ? channels : [])].map(
    ({ channel, global, segments, warnings, stretches }) => {
      const windows = windowsOf(segments, threshold);
      const judged = global && { ...global, stretches: stretchesOf({ ...global, warnings, stretches }) };
      return {
        channel,
        global,
        conclusion: judged === null ? undefined : conclusionOf({ ...judged, windows }),
        windows,
        skipped: skippedIn(warnings),
        warnings: warnings.slice(0, mostWarnings),
        warningCount: warnings.length,
      };
    },
  );
}
