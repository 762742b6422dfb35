// SPDX-License-Identifier: Apache-2.0
import { useId } from 'preact/hooks';
import { Name } from '../../parts/name.js';
import { Timeline } from '../../parts/timeline/timeline.js';
import type { TimelinePlace } from '../../parts/timeline/timeline-place.js';
import type { Wave } from '../../parts/timeline/use-peaks.js';
import { VerdictFigures } from '../../parts/verdict/verdict-figures.js';
import { VerdictHead } from '../../parts/verdict/verdict-head.js';
import { AnswerFacts } from './answer-facts.js';
import type { OutcomeView, PartView } from './outcome-view.js';
import type { Recording } from './recording.js';

interface Common {
  readonly threshold: number;
  readonly wave: Wave;
  readonly address: string | undefined;
  readonly place: TimelinePlace;
}

interface OutcomeCardProps extends Common {
  readonly view: OutcomeView;
  readonly recording: Recording;
}

/** The verdict of one model: on the mix of all channels, and below it on each. */
export function OutcomeCard({ view, recording, ...common }: OutcomeCardProps) {
  const { outcome, parts, disagreement } = view;
  return (
    <article class="card" aria-label={`Verdict of ${outcome.model}`}>
      {disagreement !== undefined && (
        <p class="notice caution" role="status">
          {disagreement} Believe the channels, not their mix.
        </p>
      )}
      {parts.map((part) => (
        <Lane
          key={part.channel}
          part={part}
          title={
            part.channel === undefined
              ? parts.length === 1
                ? ''
                : `Mix of ${parts.length - 1} channels`
              : `Channel ${part.channel}`
          }
          isMixOfDifferent={part.channel === undefined && disagreement !== undefined}
          view={view}
          {...common}
        />
      ))}
      <AnswerFacts outcome={outcome} recording={recording} />
    </article>
  );
}

interface LaneProps extends Common {
  readonly part: PartView;
  /** Empty if there is no other. */
  readonly title: string;
  readonly isMixOfDifferent: boolean;
  readonly view: OutcomeView;
}

function Lane({ part, title, isMixOfDifferent, view: { outcome }, ...common }: LaneProps) {
  const { threshold, wave, address, place } = common;
  const { verdict, conclusion, skipped, warnings, channel } = part;
  const isMix = channel === undefined;
  const id = useId();
  const label = isMix ? `Timeline of ${outcome.model}` : `Timeline of channel ${channel}, ${outcome.model}`;
  return (
    <section class="lane" aria-labelledby={id}>
      <h3 id={id} class={title === '' ? 'soft' : ''}>
        {title === '' ? <Name text={outcome.model} /> : title}
      </h3>
      {verdict === undefined || conclusion === undefined ? (
        <p>No window has enough speech for a verdict.</p>
      ) : (
        <VerdictHead
          result={verdict.result}
          reason={verdict.reason}
          conclusion={conclusion}
          isMixOfDifferent={isMixOfDifferent}
          place={place}
        />
      )}
      <Timeline
        label={label}
        durationS={place.durationS}
        windows={verdict?.windows ?? noWindows}
        skipped={skipped}
        threshold={threshold}
        wave={isMix ? wave : undefined}
        source={isMix ? address : undefined}
        place={place}
      />
      {verdict !== undefined && (
        <VerdictFigures
          score={verdict.score}
          confidence={verdict.confidence}
          reason={verdict.reason}
          threshold={Number(threshold.toFixed(4))}
        />
      )}
      {threshold !== outcome.threshold && (
        <p class="soft">Computed on this page for a threshold of {threshold.toFixed(3)}.</p>
      )}
      <Warnings warnings={warnings} />
    </section>
  );
}

const noWindows: NonNullable<PartView['verdict']>['windows'] = [];

function Warnings({ warnings }: Pick<PartView, 'warnings'>) {
  if (warnings.length === 0) return null;
  return (
    <details open={warnings.length <= 3}>
      <summary>{warnings.length === 1 ? 'One warning' : `${warnings.length} warnings`}</summary>
      <ul>
        {warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
    </details>
  );
}
