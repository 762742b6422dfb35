// SPDX-License-Identifier: Apache-2.0
import { useContext } from 'preact/hooks';
import { clock } from '../../logic/clock.js';
import { type OddStretch, resultWords } from '../../logic/conclusion.js';
import type { Result, Stretch } from '../../logic/windows.js';
import { Still } from '../still.js';

interface OddStretchesProps {
  readonly stretches: readonly OddStretch[];
  /** The verdict that they contradict. */
  readonly result: Result;
  /** Shows the clearest window of a stretch. */
  onChoose(window: Stretch): void;
}

/** More are in the table of windows. */
export const MOST_STRETCHES = 8;

/** Stretches that contradict the verdict, the clearest first: a click leads there. */
export function OddStretches({ stretches, result, onChoose }: OddStretchesProps) {
  const isStill = useContext(Still);
  if (stretches.length === 0) return null;
  const other = resultWords[result === 'spoofed' ? 'bonafide' : 'spoofed'];
  return (
    <div class="odd-stretches">
      <span class="soft">Looks {other}:</span>
      <ul aria-label={`Stretches that look ${other}`}>
        {stretches.slice(0, MOST_STRETCHES).map(({ startS, endS, score, strongest }) => {
          const text = (
            <>
              {clock(startS, 0)} to {clock(endS, 0)} <span class="soft">score {score.toFixed(3)}</span>
            </>
          );
          return (
            <li key={startS}>
              {isStill ? (
                text
              ) : (
                <button type="button" onClick={() => onChoose(strongest)}>
                  {text}
                </button>
              )}
            </li>
          );
        })}
      </ul>
      {stretches.length > MOST_STRETCHES && (
        <span class="soft">and {stretches.length - MOST_STRETCHES} more</span>
      )}
    </div>
  );
}
