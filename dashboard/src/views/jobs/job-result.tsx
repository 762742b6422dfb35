// SPDX-License-Identifier: Apache-2.0
import { useMemo } from 'preact/hooks';
import type { Prediction } from 'veravox-client';
import { clock } from '../../logic/clock.js';
import { reasonTexts } from '../../logic/reason-texts.js';
import { type AnswerSegment, skippedIn, windowsOf } from '../../logic/windows.js';
import { Name } from '../../parts/name.js';
import { Timeline } from '../../parts/timeline/timeline.js';

interface JobResultProps {
  readonly result: Prediction;
  /** Which the verdict follows from. */
  readonly threshold: number;
}

export function JobResult({ result, threshold }: JobResultProps) {
  const { global, warnings, channels = [] } = result;
  return (
    <section class="card" aria-labelledby="result">
      <h2 id="result">Result</h2>
      <p>
        <Verdict result={global.result} /> with a score of {global.score.toFixed(3)} (threshold {threshold})
        and a confidence of {global.confidence.toFixed(3)}
      </p>
      {global.reason !== null && (
        <p class="notice">
          Reason for caution: <code>{global.reason}</code>. {reasonTexts[global.reason]}
        </p>
      )}
      <p class="soft">
        {clock(result.audio_duration, 0)} of audio, <Name text={result.model} />,{' '}
        {result.processing_time.toFixed(1)} s of processing
      </p>
      <Windows
        label="Verdicts over time"
        of={result}
        durationS={result.audio_duration}
        threshold={threshold}
      />
      <Warnings warnings={warnings} />
      {channels.map((channel) => (
        <section key={channel.channel} aria-label={`Channel ${channel.channel}`}>
          <h3>Channel {channel.channel}</h3>
          {channel.global === null ? (
            <p>No window had enough speech.</p>
          ) : (
            <p>
              <Verdict result={channel.global.result} /> with a score of {channel.global.score.toFixed(3)}
            </p>
          )}
          <Windows
            label={`Verdicts over time, channel ${channel.channel}`}
            of={channel}
            durationS={result.audio_duration}
            threshold={threshold}
          />
          <Warnings warnings={channel.warnings} />
        </section>
      ))}
    </section>
  );
}

interface WindowsProps {
  readonly label: string;
  readonly of: { readonly segments: readonly AnswerSegment[]; readonly warnings: readonly string[] };
  readonly durationS: number;
  readonly threshold: number;
}

function Windows({ label, of: { segments, warnings }, durationS, threshold }: WindowsProps) {
  const windows = useMemo(() => windowsOf(segments, threshold), [segments, threshold]);
  const skipped = useMemo(() => skippedIn(warnings), [warnings]);
  return (
    <Timeline
      label={label}
      durationS={durationS}
      windows={windows}
      threshold={threshold}
      skipped={skipped}
      waveNote="There is no waveform: this page cannot read the recording."
    />
  );
}

const meanings = { spoofed: 'AI-generated', bonafide: 'human' } as const;

const Verdict = ({ result }: { readonly result: keyof typeof meanings }) => (
  <>
    <strong class={`verdict ${result}`}>{result}</strong> ({meanings[result]})
  </>
);

const WARNINGS_AT_ONCE = 20;

function Warnings({ warnings }: { readonly warnings: readonly string[] }) {
  if (warnings.length === 0) return null;
  return (
    <details>
      <summary>{warnings.length === 1 ? '1 warning' : `${warnings.length} warnings`}</summary>
      <ul>
        {warnings.slice(0, WARNINGS_AT_ONCE).map((warning) => (
          <li key={warning}>
            <Name text={warning} />
          </li>
        ))}
      </ul>
      {warnings.length > WARNINGS_AT_ONCE && <p>The downloaded result has all of them.</p>}
    </details>
  );
}
