// SPDX-License-Identifier: Apache-2.0
import { useMemo, useState } from 'preact/hooks';
import type { Peaks } from '../../logic/peaks.js';
import { detectorNamed, type ServerFacts } from '../../logic/server-facts.js';
import { type Verdict, verdictAt } from '../../logic/verdict.js';
import { skippedIn } from '../../logic/windows.js';
import { Timeline } from '../../parts/timeline/timeline.js';
import { TimelinePlace } from '../../parts/timeline/timeline-place.js';
import type { Outcome } from './analysis.js';
import { AnswerFacts } from './answer-facts.js';
import { Differences } from './differences.js';
import { type Part, partsOf } from './parts-of.js';
import { RequestCode } from './request-code.js';
import { ThresholdSlider } from './threshold-slider.js';
import { VerdictCard } from './verdict-card.js';

interface OutcomesProps {
  /** One, or two to compare. */
  readonly outcomes: readonly Outcome[];
  readonly facts: ServerFacts;
  readonly peaks: Peaks | undefined;
  readonly waveNote: string | undefined;
  readonly address: string | undefined;
}

/** What came of a recording, and what another threshold would change. */
export function Outcomes({ outcomes, facts, peaks, waveNote, address }: OutcomesProps) {
  const [first] = outcomes;
  const [threshold, setThreshold] = useState(first?.threshold ?? facts.threshold);
  const [channel, setChannel] = useState<number>();
  const durationS = first?.prediction.audio_duration ?? 0;
  const place = useMemo(() => new TimelinePlace(durationS), [durationS]);
  const views = useMemo(
    () => outcomes.map((outcome) => ({ outcome, ...viewOf(outcome, channel, threshold, facts) })),
    [outcomes, channel, threshold, facts],
  );
  const [one, other] = views;
  if (first === undefined || one === undefined) return null;
  const parts = partsOf(first.prediction);
  return (
    <section aria-label="Result">
      <ThresholdSlider
        threshold={threshold}
        asked={first.threshold}
        verdicts={views.map(({ outcome: { model }, verdict }) => ({ model, verdict }))}
        onThreshold={setThreshold}
      />
      {parts.length > 1 && <PartChoice parts={parts} channel={channel} onChannel={setChannel} />}
      {views.map(({ outcome, part, verdict, skipped }) => (
        <article class="card" key={outcome.model} aria-label={`Verdict of ${outcome.model}`}>
          <VerdictCard outcome={outcome} warnings={part.warnings} verdict={verdict} threshold={threshold} />
          <Timeline
            label={`Timeline of ${outcome.model}`}
            durationS={durationS}
            windows={verdict?.windows ?? noWindows}
            skipped={skipped}
            threshold={threshold}
            peaks={peaks}
            waveNote={waveNote}
            source={address}
            place={place}
          />
          <AnswerFacts outcome={outcome} />
        </article>
      ))}
      {one.verdict !== undefined && other?.verdict !== undefined && (
        <Differences
          names={[one.outcome.model, other.outcome.model]}
          first={one.verdict.windows}
          second={other.verdict.windows}
          onChoose={(window) => place.choose(window)}
        />
      )}
      <RequestCode request={first.request} />
    </section>
  );
}

const noWindows: Verdict['windows'] = [];

function viewOf(outcome: Outcome, channel: number | undefined, threshold: number, facts: ServerFacts) {
  const parts = partsOf(outcome.prediction);
  const part = parts.find((each) => each.channel === channel) ?? (parts[0] as Part);
  const stretches = part.segments.map(({ start, end, scores }) => ({ startS: start, endS: end, scores }));
  const { uncertainBelow } = detectorNamed(facts, outcome.modelId ?? outcome.model) ?? {};
  const known = { reason: part.global?.reason ?? null, uncertainBelow };
  // At the threshold of the request the server has said it.
  const computed = verdictAt(stretches, threshold, known);
  const verdict: Verdict | undefined =
    computed !== undefined && threshold === outcome.threshold && part.global !== null
      ? { ...computed, ...part.global }
      : computed;
  return { part, verdict, skipped: skippedIn(part.warnings) };
}

interface PartChoiceProps {
  readonly parts: readonly Part[];
  readonly channel: number | undefined;
  onChannel(channel: number | undefined): void;
}

function PartChoice({ parts, channel, onChannel }: PartChoiceProps) {
  return (
    <fieldset class="row">
      <legend>Shown</legend>
      {parts.map((part) => (
        <label key={part.channel} class="choice">
          <input
            type="radio"
            name="part"
            checked={part.channel === channel}
            onChange={() => onChannel(part.channel)}
          />{' '}
          {part.channel === undefined ? 'Mix of all channels' : `Channel ${part.channel}`}
        </label>
      ))}
    </fieldset>
  );
}
