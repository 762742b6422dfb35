// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { reasonTexts } from '../../logic/reason-texts.js';

interface VerdictFiguresProps {
  readonly score: number;
  readonly confidence: number;
  /** Undefined if only the server could tell. */
  readonly reason: string | null | undefined;
  /** In place of an undefined reason. */
  readonly unknown?: string;
  readonly threshold: number;
  /** More of them. */
  readonly children?: ComponentChildren;
}

/** The figures behind a verdict. */
export function VerdictFigures({
  score,
  confidence,
  reason,
  unknown = 'unknown at this threshold: analyse again with it',
  threshold,
  children,
}: VerdictFiguresProps) {
  return (
    <dl class="facts numbers">
      {reason !== null && (
        <>
          <dt>Reason for caution</dt>
          <dd>
            {reason === undefined ? unknown : (reasonTexts[reason] ?? 'This page does not know the reason.')}
          </dd>
        </>
      )}
      <dt>Score</dt>
      <dd>
        {score.toFixed(3)} <span class="soft">(0 human, 1 AI-generated; threshold {threshold})</span>
      </dd>
      <dt>Confidence</dt>
      <dd>
        {confidence.toFixed(3)}{' '}
        <span class="soft">
          (how far the scores of single windows are from the threshold on average, 0 to 1)
        </span>
      </dd>
      {children}
    </dl>
  );
}
