// SPDX-License-Identifier: Apache-2.0
import { useCallback, useState } from 'preact/hooks';
import { Choice } from '../../parts/choice.js';
import { Problem } from '../../parts/problem.js';
import { usePolled } from '../../parts/use-polled.js';
import { useSession } from '../../session.js';
import { Drift } from './drift.js';
import { HistoryPlots } from './history-plots.js';
import { Models } from './models.js';
import { Refusals } from './refusals.js';
import { ServerFacts } from './server-facts.js';

/** The time span, its step, and the interval of polls. */
const spans = {
  '5 minutes': { lengthS: 300, stepS: 1, everyMs: 2000 },
  hour: { lengthS: 3600, stepS: 10, everyMs: 5000 },
  '6 hours': { lengthS: 6 * 3600, stepS: 60, everyMs: 20_000 },
  day: { lengthS: 24 * 3600, stepS: 300, everyMs: 60_000 },
} as const;
type SpanName = keyof typeof spans;
const spanNames = Object.keys(spans) as SpanName[];

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** The server's state and history, the accuracy of its models, and whether their scores drift. */
export default function Health() {
  const { admin } = useSession();
  const [span, setSpan] = useState<SpanName>('hour');
  const [isFollowed, setFollowed] = useState(true);
  const { lengthS, stepS, everyMs } = spans[span];
  const load = useCallback(
    async (signal: AbortSignal) => {
      // By the server's clock, which may differ from the reader's.
      const { history, now } = await admin.getHealth({ lastS: lengthS, stepS }, { signal });
      return { history, now, at: new Date() };
    },
    [admin, lengthS, stepS],
  );
  const [state, reload] = usePolled(load, isFollowed ? everyMs : undefined);
  const { value } = state;
  return (
    <div class="health">
      <div class="row">
        <Choice
          label="Show the last"
          value={span}
          options={spanNames}
          textOf={(name) => name}
          onChoose={setSpan}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={isFollowed}
            onChange={({ currentTarget }) => setFollowed(currentTarget.checked)}
          />
          Update automatically
        </label>
        <button type="button" onClick={reload}>
          Update now
        </button>
        {value !== undefined && <span class="soft page-number">as of {clock.format(value.at)}</span>}
      </div>
      {state.is === 'failed' && <Problem error={state.error} onRetry={reload} />}
      {value === undefined ? (
        state.is === 'loading' && <p>Loading …</p>
      ) : (
        <>
          <ServerFacts now={value.now} history={value.history} />
          <HistoryPlots history={value.history} />
          <Refusals history={value.history} />
        </>
      )}
      <Drift />
      <Models />
    </div>
  );
}
