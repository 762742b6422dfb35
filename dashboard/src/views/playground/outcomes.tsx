// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { clock } from '../../logic/clock.js';
import type { ServerFacts } from '../../logic/server-facts.js';
import { Name } from '../../parts/name.js';
import { TimelinePlace } from '../../parts/timeline/timeline-place.js';
import type { Wave } from '../../parts/timeline/use-peaks.js';
import type { Outcome } from './analysis.js';
import { Differences } from './differences.js';
import { OutcomeCard } from './outcome-card.js';
import { outcomeView } from './outcome-view.js';
import type { Recording } from './recording.js';
import { RequestCode } from './request-code.js';
import { ThresholdSlider } from './threshold-slider.js';

interface OutcomesProps {
  readonly recording: Recording;
  /** One, or two to compare. */
  readonly outcomes: readonly Outcome[];
  readonly facts: ServerFacts;
  readonly wave: Wave;
  readonly address: string | undefined;
}

/** The outcomes for a recording, and the effect of another threshold. */
export function Outcomes({ recording, outcomes, facts, wave, address }: OutcomesProps) {
  const [first] = outcomes;
  const [threshold, setThreshold] = useState(first?.threshold ?? facts.threshold);
  const durationS = first?.prediction.audio_duration ?? 0;
  const place = useMemo(() => new TimelinePlace(durationS), [durationS]);
  const views = useMemo(
    () => outcomes.map((outcome) => outcomeView(outcome, threshold, facts)),
    [outcomes, threshold, facts],
  );
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // The part that had the focus is gone with the analysis; a reader who is elsewhere stays there.
    if (document.activeElement !== document.body) return;
    heading.current?.focus({ preventScroll: true });
    heading.current?.scrollIntoView({ block: 'start' });
  }, []);
  const [one, other] = views;
  if (first === undefined || one === undefined) return null;
  return (
    <section aria-label="Result">
      <h2 class="result-heading" ref={heading} tabIndex={-1}>
        <Name text={recording.name} /> <span class="soft">{clock(durationS, 0)}</span>
      </h2>
      {views.map((view) => (
        <OutcomeCard
          key={view.outcome.model}
          view={view}
          recording={recording}
          threshold={threshold}
          wave={wave}
          address={address}
          place={place}
        />
      ))}
      <ThresholdSlider
        threshold={threshold}
        asked={first.threshold}
        verdicts={views.map(({ outcome: { model }, parts }) => ({ model, verdict: parts[0]?.verdict }))}
        onThreshold={setThreshold}
      />
      {one.parts[0]?.verdict !== undefined && other?.parts[0]?.verdict !== undefined && (
        <Differences
          names={[one.outcome.model, other.outcome.model]}
          first={one.parts[0].verdict.windows}
          second={other.parts[0].verdict.windows}
          onChoose={(window) => place.choose(window)}
        />
      )}
      <RequestCode request={first.request} />
    </section>
  );
}
