// SPDX-License-Identifier: Apache-2.0
import { announcementOf, type LiveFacts } from '../../logic/live.js';
import { reasonTexts } from '../../logic/reason-texts.js';

const meanings = { spoofed: 'AI-generated', bonafide: 'human' } as const;

/** The verdict on everything so far. */
export function LiveVerdict({ facts, isOver }: { readonly facts: LiveFacts; readonly isOver: boolean }) {
  const { events, soFar, result } = facts;
  const verdict = result?.global ?? soFar;
  const last = events.at(-1);
  return (
    <section class="card live-verdict" aria-label="Verdict">
      <h2>{isOver ? 'Verdict' : 'Verdict so far'}</h2>
      {verdict === undefined ? (
        <p>
          {isOver
            ? 'There is no verdict: no window had enough speech.'
            : 'No window with enough speech yet. The first verdict comes after 5 s of it.'}
        </p>
      ) : (
        <>
          <p class="main-line">
            <span class={`verdict ${verdict.result}`}>{verdict.result}</span>{' '}
            <span>probably {meanings[verdict.result]}</span>
          </p>
          <dl class="facts">
            <dt>Score</dt>
            <dd>{verdict.score.toFixed(3)} (0 human, 1 AI-generated)</dd>
            <dt>Confidence</dt>
            <dd>{verdict.confidence.toFixed(3)} (distance from the threshold, 0 to 1)</dd>
            <dt>Windows with speech</dt>
            <dd>
              {soFar?.windows ?? 0} of {events.length}
            </dd>
          </dl>
        </>
      )}
      {result !== undefined && result.global.reason !== null && (
        <p>
          Reason for caution: <code>{result.global.reason}</code>. {reasonTexts[result.global.reason] ?? ''}
        </p>
      )}
      {result?.warnings.map((warning) => (
        <p class="soft" key={warning}>
          {warning}
        </p>
      ))}
      <p class="visually-hidden" aria-live="polite">
        {last === undefined ? '' : announcementOf(last)}
      </p>
    </section>
  );
}
