// SPDX-License-Identifier: Apache-2.0
import type { Conclusion } from '../../logic/conclusion.js';
import type { Result } from '../../logic/windows.js';
import type { TimelinePlace } from '../timeline/timeline-place.js';
import { OddStretches } from './odd-stretches.js';
import { VerdictHeadline } from './verdict-headline.js';

interface VerdictHeadProps {
  readonly conclusion: Conclusion;
  /** As the API has it. */
  readonly result: Result;
  readonly reason: string | null | undefined;
  /** A mix whose channels differ says nothing about either of them. */
  readonly isMixOfDifferent: boolean;
  /** Of the timeline below. */
  readonly place: TimelinePlace;
}

/** The verdict above its timeline, and the places that contradict it. */
export const VerdictHead = ({ conclusion, result, reason, isMixOfDifferent, place }: VerdictHeadProps) => (
  <>
    <VerdictHeadline
      conclusion={isMixOfDifferent ? { ...conclusion, look: 'uncertain' } : conclusion}
      result={result}
      reason={reason}
    />
    <OddStretches
      stretches={conclusion.oddStretches}
      result={result}
      onChoose={(window) => place.lookAt(window)}
    />
  </>
);
