// SPDX-License-Identifier: Apache-2.0
import type { Result } from './load.js';
import { quantile } from './samples.js';

const maxProblems = 100;

/** Outcomes of the requests of one name. */
class Counts {
  readonly outcomes: Record<string, number> = {};
  readonly tookMs: number[] = [];
}

export class Tally {
  readonly #counts = new Map<string, Counts>();
  readonly problems: { atS: number; name: string; outcome: string; problem: string }[] = [];
  problemCount = 0;
  refused = 0;
  /** Count of each reason. */
  readonly refusals: Record<string, number> = {};
  requests = 0;
  /** In the last interval. */
  recentMs: number[] = [];

  add(atS: number, name: string, { outcome, tookMs, problem, refusal }: Result): void {
    this.requests++;
    const counts = this.#counts.get(name) ?? new Counts();
    this.#counts.set(name, counts);
    counts.outcomes[outcome] = (counts.outcomes[outcome] ?? 0) + 1;
    if (tookMs !== undefined) {
      counts.tookMs.push(tookMs);
      this.recentMs.push(tookMs);
    }
    if (refusal !== undefined) {
      this.refused++;
      this.refusals[refusal] = (this.refusals[refusal] ?? 0) + 1;
    }
    if (problem === undefined) return;
    this.problemCount++;
    if (this.problems.length < maxProblems) {
      this.problems.push({ atS: Math.round(atS), name, outcome, problem });
    }
  }

  summary() {
    return Object.fromEntries(
      [...this.#counts].map(([name, { outcomes, tookMs }]) => [
        name,
        {
          outcomes,
          p50Ms: Math.round(quantile(tookMs, 0.5)),
          p99Ms: Math.round(quantile(tookMs, 0.99)),
          slowestMs: Math.round(quantile(tookMs, 1)),
        },
      ]),
    );
  }
}
