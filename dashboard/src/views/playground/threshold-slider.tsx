// SPDX-License-Identifier: Apache-2.0
import { useId } from 'preact/hooks';
import type { Verdict } from '../../logic/verdict.js';

interface ThresholdSliderProps {
  readonly threshold: number;
  /** That of the request. */
  readonly asked: number;
  readonly verdicts: readonly { readonly model: string; readonly verdict: Verdict | undefined }[];
  onThreshold(threshold: number): void;
}

/** What another threshold would have changed, without asking the server again. */
export function ThresholdSlider({ threshold, asked, verdicts, onThreshold }: ThresholdSliderProps) {
  const id = useId();
  return (
    <div class="card threshold-slider">
      <label for={id}>Threshold</label>
      <input
        id={id}
        type="range"
        min={0}
        max={1}
        step={0.005}
        value={threshold}
        aria-valuetext={threshold.toFixed(3)}
        onInput={({ currentTarget }) => onThreshold(currentTarget.valueAsNumber)}
      />
      <output for={id}>{threshold.toFixed(3)}</output>
      <button type="button" disabled={threshold === asked} onClick={() => onThreshold(asked)}>
        Reset to {Number(asked.toFixed(4))}
      </button>
      <div class="told soft" aria-live="polite">
        {verdicts.map(
          ({ model, verdict }) =>
            verdict !== undefined && (
              <p key={model}>
                {verdicts.length > 1 && `${model}: `}
                {sentenceOn(verdict, threshold)}
              </p>
            ),
        )}
      </div>
    </div>
  );
}

function sentenceOn({ windows, score }: Verdict, threshold: number): string {
  const spoofed = windows.filter(({ result }) => result === 'spoofed').length;
  const share =
    windows.length === 1
      ? 'The window is'
      : `${spoofed} of ${windows.length} windows ${spoofed === 1 ? 'is' : 'are'}`;
  const word = windows.length === 1 && spoofed === 0 ? 'bonafide' : 'spoofed';
  const change =
    score >= threshold
      ? `at thresholds above ${score.toFixed(3)} it is bonafide`
      : `at thresholds up to ${score.toFixed(3)} it is spoofed`;
  return `${share} ${word} at this threshold. The verdict on the recording changes at its score: ${change}.`;
}
