// SPDX-License-Identifier: Apache-2.0
import { useMemo } from 'preact/hooks';
import type { Prediction } from 'veravox-client';
import { clock } from '../../logic/clock.js';
import { conclusionOf, disagreementOf } from '../../logic/conclusion.js';
import { type AnswerSegment, type Result, skippedIn, windowsOf } from '../../logic/windows.js';
import { Name } from '../../parts/name.js';
import { Timeline } from '../../parts/timeline/timeline.js';
import { TimelinePlace } from '../../parts/timeline/timeline-place.js';
import { VerdictFigures } from '../../parts/verdict/verdict-figures.js';
import { VerdictHead } from '../../parts/verdict/verdict-head.js';

interface JobResultProps {
  readonly result: Prediction;
  /** The threshold of the verdict. */
  readonly threshold: number;
  /** The model now behind the name; undefined if unknown. */
  readonly modelId: string | undefined;
}

/** The verdict of a job: on the mix of all channels, and below it on each. */
export function JobResult({ result, threshold, modelId }: JobResultProps) {
  const { global, segments, warnings, audio_duration: durationS } = result;
  const place = useMemo(() => new TimelinePlace(durationS), [durationS]);
  const lanes = useMemo(() => {
    const { channels = [] } = result;
    const mix = laneOf({ channel: undefined, global, segments, warnings }, threshold);
    // The only channel is the mix.
    return [mix, ...(channels.length > 1 ? channels.map((channel) => laneOf(channel, threshold)) : [])];
  }, [result, global, segments, warnings, threshold]);
  const disagreement = disagreementOf(
    lanes.flatMap(({ channel, conclusion }) => (channel === undefined ? [] : [{ channel, conclusion }])),
  );
  return (
    <section class="card" aria-labelledby="result">
      <h2 id="result">Verdict</h2>
      {disagreement !== undefined && (
        <p class="notice caution">{disagreement} Believe the channels, not their mix.</p>
      )}
      {lanes.map((lane) => (
        <ResultLane
          key={lane.channel}
          lane={lane}
          isMixOfDifferent={lane.channel === undefined && disagreement !== undefined}
          threshold={threshold}
          place={place}
        />
      ))}
      <p class="soft">
        {clock(durationS, 0)} of audio, <Name text={result.model} />
        {modelId !== undefined && modelId !== result.model && (
          <>
            {' '}
            (now served by <Name text={modelId} />)
          </>
        )}
        , {result.processing_time.toFixed(1)} s of processing. The page does not have the recording, so there
        is no waveform.
      </p>
    </section>
  );
}

interface Judged {
  readonly channel: number | undefined;
  readonly global: {
    readonly result: Result;
    readonly score: number;
    readonly confidence: number;
    readonly reason: string | null;
  } | null;
  readonly segments: readonly AnswerSegment[];
  readonly warnings: readonly string[];
}

function laneOf({ channel, global, segments, warnings }: Judged, threshold: number) {
  const windows = windowsOf(segments, threshold);
  return {
    ...{ channel, global, warnings, windows },
    conclusion: global === null ? undefined : conclusionOf({ ...global, windows }),
    skipped: skippedIn(warnings),
  };
}

interface ResultLaneProps {
  readonly lane: ReturnType<typeof laneOf>;
  readonly isMixOfDifferent: boolean;
  readonly threshold: number;
  readonly place: TimelinePlace;
}

function ResultLane({ lane, isMixOfDifferent, threshold, place }: ResultLaneProps) {
  const { channel, global, conclusion, windows, skipped, warnings } = lane;
  const name = channel === undefined ? '' : `, channel ${channel}`;
  return (
    <section class="lane" aria-label={channel === undefined ? 'Whole recording' : `Channel ${channel}`}>
      {channel !== undefined && <h3>Channel {channel}</h3>}
      {global === null || conclusion === undefined ? (
        <p>No window had enough speech.</p>
      ) : (
        <VerdictHead {...global} conclusion={conclusion} isMixOfDifferent={isMixOfDifferent} place={place} />
      )}
      <Timeline
        label={`Verdicts over time${name}`}
        durationS={place.durationS}
        windows={windows}
        threshold={threshold}
        skipped={skipped}
        place={place}
      />
      {global !== null && <VerdictFigures {...global} threshold={threshold} />}
      <Warnings warnings={warnings} />
    </section>
  );
}

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
