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

/** The effect of another threshold, without asking the server again. */
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
      ? `The window looks ${spoofed === 1 ? 'AI-generated' : 'human'}`
      : `${spoofed} of ${windows.length} windows ${spoofed === 1 ? 'looks' : 'look'} AI-generated`;
  const change =
    score >= threshold
      ? `With a threshold above ${score.toFixed(3)} the recording would count as human.`
      : `With a threshold of ${score.toFixed(3)} or less the recording would count as AI-generated.`;
  return `${share} at this threshold. ${change}`;
}
