// SPDX-License-Identifier: Apache-2.0
import { reasonTexts } from '../../logic/reason-texts.js';
import type { Verdict } from '../../logic/verdict.js';
import { Name } from '../../parts/name.js';
import type { Outcome } from './analysis.js';

interface VerdictCardProps {
  readonly outcome: Outcome;
  /** At the threshold that is shown; undefined without a window to judge. */
  readonly verdict: Verdict | undefined;
  readonly warnings: readonly string[];
  readonly threshold: number;
}

const meanings = { spoofed: 'AI-generated voice', bonafide: 'human voice' } as const;

/** The verdict on the whole recording, and what speaks against it. */
export function VerdictCard({ outcome, verdict, warnings, threshold }: VerdictCardProps) {
  return (
    <header>
      <h2>
        <Name text={outcome.model} />
      </h2>
      {verdict === undefined ? (
        <p>No window has enough speech for a verdict.</p>
      ) : (
        <>
          <p class="global" aria-live="polite">
            <span class={`verdict ${verdict.result}`}>{verdict.result}</span> {meanings[verdict.result]}
          </p>
          <dl class="facts numbers">
            <dt>Score</dt>
            <dd>{verdict.score.toFixed(3)}</dd>
            <dt>Confidence</dt>
            <dd>
              <span class="share" aria-hidden="true">
                <span style={{ width: `${100 * verdict.confidence}%` }} />
              </span>{' '}
              {verdict.confidence.toFixed(3)}
            </dd>
            <dt>Reason for caution</dt>
            <dd>
              <ReasonWords reason={verdict.reason} />
            </dd>
          </dl>
          {threshold !== outcome.threshold && (
            <p class="soft">Computed on this page for a threshold of {threshold.toFixed(3)}.</p>
          )}
        </>
      )}
      {warnings.length > 0 && (
        <details open={warnings.length <= 3}>
          <summary>{warnings.length === 1 ? 'One warning' : `${warnings.length} warnings`}</summary>
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </details>
      )}
    </header>
  );
}

function ReasonWords({ reason }: { readonly reason: string | null | undefined }) {
  if (reason === null) return <>none</>;
  if (reason === undefined) return <>Unknown at this threshold: analyse again with it.</>;
  return (
    <>
      <strong>{reason}</strong>: {reasonTexts[reason] ?? 'This page does not know the reason.'}
    </>
  );
}
