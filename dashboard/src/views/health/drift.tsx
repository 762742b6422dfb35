// SPDX-License-Identifier: Apache-2.0
import { useCallback, useState } from 'preact/hooks';
import { Choice } from '../../parts/choice.js';
import { Problem } from '../../parts/problem.js';
import { usePolled } from '../../parts/use-polled.js';
import { useSession } from '../../session.js';
import { ModelDriftCard } from './model-drift.js';

const ranges = { '6 hours': 6, day: 24, '3 days': 72, week: 168, '2 weeks': 336 } as const;
type RangeName = keyof typeof ranges;
const rangeNames = Object.keys(ranges) as RangeName[];
const EVERY_MS = 60_000;

/** Whether the detectors' scores are like earlier ones. */
export function Drift() {
  const { admin } = useSession();
  const [range, setRange] = useState<RangeName>('day');
  const hours = ranges[range];
  const load = useCallback((signal: AbortSignal) => admin.getDrift({ hours }, { signal }), [admin, hours]);
  const [state, reload] = usePolled(load, EVERY_MS);
  const { value } = state;
  return (
    <section aria-labelledby="health-drift">
      <h2 id="health-drift">Score drift</h2>
      <p>
        Scores move with new voices, microphones, codecs or attacks. That is not an error, but the figures of
        a detector may no longer hold. The server keeps counts, never audio.
      </p>
      <div class="row">
        <Choice
          label="Compare the last"
          value={range}
          options={rangeNames}
          textOf={(name) => name}
          onChoose={setRange}
        />
      </div>
      {state.is === 'failed' && <Problem error={state.error} onRetry={reload} />}
      {value === undefined && state.is === 'loading' && <p>Loading …</p>}
      {value !== undefined && (
        <div class="cards wide-cards">
          {value.models.map((drift) => (
            <ModelDriftCard key={drift.model} drift={drift} all={value} hours={hours} onChosen={reload} />
          ))}
        </div>
      )}
    </section>
  );
}
