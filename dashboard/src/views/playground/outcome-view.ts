// SPDX-License-Identifier: Apache-2.0
import { type Conclusion, conclusionOf, disagreementOf } from '../../logic/conclusion.js';
import { detectorNamed, type ServerFacts } from '../../logic/server-facts.js';
import { type Verdict, verdictAt } from '../../logic/verdict.js';
import { type Stretch, skippedIn } from '../../logic/windows.js';
import type { Outcome } from './analysis.js';
import { type Part, partsOf } from './parts-of.js';

/** The mix of a recording or one of its channels, at the threshold that is shown. */
export interface PartView {
  readonly channel: number | undefined;
  readonly warnings: readonly string[];
  /** Undefined if no window had enough speech. */
  readonly verdict: Verdict | undefined;
  readonly conclusion: Conclusion | undefined;
  readonly skipped: readonly Stretch[];
}

export interface OutcomeView {
  readonly outcome: Outcome;
  /** The mix, then the channels if there are several. */
  readonly parts: readonly PartView[];
  /** The disagreement of the channels, in words. */
  readonly disagreement: string | undefined;
}

export function outcomeView(outcome: Outcome, threshold: number, facts: ServerFacts): OutcomeView {
  const all = partsOf(outcome.prediction).map((part) => partView(part, outcome, threshold, facts));
  // The only channel is the mix.
  const parts = all.length === 2 ? all.slice(0, 1) : all;
  const disagreement = disagreementOf(
    parts.flatMap(({ channel, conclusion }) => (channel === undefined ? [] : [{ channel, conclusion }])),
  );
  return { outcome, parts, disagreement };
}

function partView(part: Part, outcome: Outcome, threshold: number, facts: ServerFacts): PartView {
  const { channel, warnings, global } = part;
  const windows = part.segments.map(({ start, end, scores }) => ({ startS: start, endS: end, scores }));
  const { uncertainBelow } = detectorNamed(facts, outcome.modelId) ?? {};
  const isMixed = part.stretches?.some(({ strength }) => strength !== null) ?? false;
  const computed = verdictAt(windows, threshold, { reason: global?.reason ?? null, uncertainBelow, isMixed });
  // At the threshold of the request the server has said it.
  const verdict: Verdict | undefined =
    computed !== undefined && threshold === outcome.threshold && global !== null
      ? { ...computed, ...global }
      : computed;
  return {
    ...{ channel, warnings, verdict },
    conclusion: verdict && conclusionOf({ ...verdict, stretches: part.stretches }),
    skipped: skippedIn(warnings),
  };
}
