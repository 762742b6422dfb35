// SPDX-License-Identifier: Apache-2.0
import { clock } from '../../logic/clock.js';
import { type OddStretch, resultWords } from '../../logic/conclusion.js';
import type { Result, Stretch } from '../../logic/windows.js';

interface OddStretchesProps {
  readonly stretches: readonly OddStretch[];
  /** The verdict that they contradict. */
  readonly result: Result;
  /** Shows the clearest window of a stretch. */
  onChoose(window: Stretch): void;
}

/** More are in the table of windows. */
const MOST = 8;

/** Stretches that contradict the verdict, the clearest first: a click leads there. */
export function OddStretches({ stretches, result, onChoose }: OddStretchesProps) {
  if (stretches.length === 0) return null;
  const other = resultWords[result === 'spoofed' ? 'bonafide' : 'spoofed'];
  return (
    <div class="odd-stretches">
      <span class="soft">Looks {other}:</span>
      <ul aria-label={`Stretches that look ${other}`}>
        {stretches.slice(0, MOST).map(({ startS, endS, score, strongest }) => (
          <li key={startS}>
            <button type="button" onClick={() => onChoose(strongest)}>
              {clock(startS, 0)} to {clock(endS, 0)} <span class="soft">score {score.toFixed(3)}</span>
            </button>
          </li>
        ))}
      </ul>
      {stretches.length > MOST && <span class="soft">and {stretches.length - MOST} more</span>}
    </div>
  );
}
