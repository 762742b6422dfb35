// SPDX-License-Identifier: Apache-2.0
import { clock } from '../../logic/clock.js';
import { announcementOf, type LiveFacts, verdictLately, verdictSoFar } from '../../logic/live.js';
import { VerdictFigures } from '../../parts/verdict/verdict-figures.js';
import { VerdictHeadline } from '../../parts/verdict/verdict-headline.js';

const UNKNOWN = 'unknown: only the result of a stream tells it, for all of its audio';

interface LiveVerdictProps {
  readonly facts: LiveFacts;
  readonly threshold: number;
  /** Exact id; empty before the stream has begun. */
  readonly modelId: string;
  readonly uncertainBelow: number | undefined;
  readonly isOver: boolean;
}

/** The verdict on the last seconds, and beside it that on everything so far. */
export function LiveVerdict({ facts, threshold, modelId, uncertainBelow, isOver }: LiveVerdictProps) {
  const { events, soFar, result } = facts;
  const whole = verdictSoFar(facts, uncertainBelow, isOver);
  const lately = verdictLately(facts, threshold, uncertainBelow, isOver);
  const last = events.at(-1);
  return (
    <div class="cards live-verdicts">
      <section class="card live-verdict" aria-label="Verdict">
        <h2>{isOver ? 'Verdict' : 'Verdict so far'}</h2>
        {whole === undefined ? (
          <p>
            {isOver
              ? 'There is no verdict: no window had enough speech.'
              : 'No window with enough speech yet. The first verdict comes after 5 s of it.'}
          </p>
        ) : (
          <>
            <VerdictHeadline {...whole} />
            <VerdictFigures {...whole} threshold={threshold} unknown={UNKNOWN}>
              <dt>Windows with speech</dt>
              <dd>
                {soFar?.windows ?? 0} of {events.length}
              </dd>
              <dt>Model</dt>
              <dd>{modelId}</dd>
            </VerdictFigures>
          </>
        )}
        {result?.warnings.map((warning) => (
          <p class="soft" key={warning}>
            {warning}
          </p>
        ))}
      </section>
      <section class="card live-verdict" aria-label="Last seconds">
        <h2>
          {lately === undefined ? 'Last seconds' : `From ${clock(lately.startS)} to ${clock(lately.endS)}`}
        </h2>
        {lately === undefined ? (
          <p class="soft">Nobody has spoken lately.</p>
        ) : (
          <>
            <VerdictHeadline {...lately} />
            <VerdictFigures {...lately} threshold={threshold} unknown={UNKNOWN} />
          </>
        )}
      </section>
      <p class="visually-hidden" aria-live="polite">
        {last === undefined ? '' : announcementOf(last)}
      </p>
    </div>
  );
}
