// SPDX-License-Identifier: Apache-2.0
import { useContext, useMemo } from 'preact/hooks';
import { disagreementOf } from '../../logic/conclusion.js';
import type { Lane } from '../../logic/lanes.js';
import { printable } from '../../logic/printable.js';
import type { Stretch } from '../../logic/windows.js';
import { Name } from '../name.js';
import { Still } from '../still.js';
import { Timeline } from '../timeline/timeline.js';
import { TimelinePlace } from '../timeline/timeline-place.js';
import type { Wave } from '../timeline/use-peaks.js';
import { VerdictFigures } from './verdict-figures.js';
import { VerdictHead } from './verdict-head.js';

interface LanesProps {
  readonly lanes: readonly Lane[];
  readonly threshold: number;
  readonly durationS: number;
  /** The place of warnings that are not among those of a lane, as a sentence. */
  readonly otherWarnings: string;
  /** The recording's name, if the page has several. */
  readonly name?: string;
  /** Of the mix. */
  readonly wave?: Wave | undefined;
  readonly speech?: readonly Stretch[] | undefined;
}

/** Verdicts over time: on the mix of all channels, and below it on each. */
export function Lanes({ lanes, threshold, durationS, otherWarnings, name, wave, speech }: LanesProps) {
  const place = useMemo(() => new TimelinePlace(durationS), [durationS]);
  const disagreement = disagreementOf(
    lanes.flatMap(({ channel, conclusion }) => (channel === undefined ? [] : [{ channel, conclusion }])),
  );
  return (
    <>
      {disagreement !== undefined && (
        <p class="notice caution">{disagreement} Believe the channels, not their mix.</p>
      )}
      {lanes.map((lane) => (
        <OneLane
          key={lane.channel}
          lane={lane}
          isMixOfDifferent={lane.channel === undefined && disagreement !== undefined}
          threshold={threshold}
          otherWarnings={otherWarnings}
          place={place}
          {...(lane.channel === undefined && { wave, speech })}
          of={name === undefined ? '' : ` of ${printable(name)}`}
        />
      ))}
    </>
  );
}

interface OneLaneProps extends Pick<LanesProps, 'threshold' | 'otherWarnings' | 'wave' | 'speech'> {
  readonly lane: Lane;
  readonly isMixOfDifferent: boolean;
  readonly place: TimelinePlace;
  /** Tells labels from those of other recordings. */
  readonly of: string;
}

function OneLane({
  lane,
  isMixOfDifferent,
  threshold,
  place,
  otherWarnings,
  wave,
  speech,
  of,
}: OneLaneProps) {
  const isStill = useContext(Still);
  const { channel, global, conclusion, windows, skipped, note } = lane;
  const name = channel === undefined ? '' : `, channel ${channel}`;
  return (
    <section
      class="lane"
      aria-label={`${channel === undefined ? 'Whole recording' : `Channel ${channel}`}${of}`}
    >
      {channel !== undefined && <h3>Channel {channel}</h3>}
      {global === null || conclusion === undefined ? (
        <p>No window had enough speech.</p>
      ) : (
        <VerdictHead {...global} conclusion={conclusion} isMixOfDifferent={isMixOfDifferent} place={place} />
      )}
      {!isStill && (
        <Timeline
          label={`Verdicts over time${name}${of}`}
          durationS={place.durationS}
          windows={windows}
          threshold={threshold}
          skipped={skipped}
          wave={wave}
          speech={speech}
          place={place}
        />
      )}
      {note !== undefined && <p class="soft">{note}</p>}
      {global !== null && <VerdictFigures {...global} threshold={threshold} />}
      <Warnings {...lane} otherWarnings={otherWarnings} />
    </section>
  );
}

type WarningsProps = Pick<Lane, 'warnings' | 'warningCount'> & Pick<LanesProps, 'otherWarnings'>;

function Warnings({ warnings, warningCount, otherWarnings }: WarningsProps) {
  if (warningCount === 0) return null;
  return (
    <details>
      <summary>{warningCount === 1 ? '1 warning' : `${warningCount} warnings`}</summary>
      <ul>
        {warnings.map((warning, i) => (
          <li key={i}>
            <Name text={warning} />
          </li>
        ))}
      </ul>
      {warningCount > warnings.length && <p>{otherWarnings}</p>}
    </details>
  );
}
