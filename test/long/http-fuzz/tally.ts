// SPDX-License-Identifier: Apache-2.0
import type { Answer } from './answer.js';
import type { Outcome } from './connection.js';
import type { Input } from './input.js';

export interface Finding {
  readonly index: number;
  readonly kind: string;
  readonly what: string;
  readonly problem: string;
}

type Counts = Record<string, number>;

function add(counts: Counts, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

/** Outcomes of the inputs, counted. */
export class Tally {
  inputs = 0;
  /** Per kind: statuses, and endings of exchanges without an answer. */
  readonly outcomes: Record<string, Counts> = {};
  readonly errorCodes: Counts = {};
  /** Total duration of a kind's exchanges, including waits. */
  readonly tookMs: Counts = {};
  readonly slowest = { ms: 0, index: 0 };
  /** The server had closed the connection, as it may between two requests; asked again on a new one. */
  askedAgain = 0;
  goodRequests = 0;
  readonly findings: Finding[] = [];

  count(index: number, input: Input, { end, answers, tookMs }: Outcome): void {
    this.inputs++;
    this.tookMs[input.kind] = (this.tookMs[input.kind] ?? 0) + tookMs;
    this.outcomes[input.kind] ??= {};
    const counts = this.outcomes[input.kind] as Counts;
    if (answers.length === 0) add(counts, end);
    for (const answer of answers) {
      add(counts, String(answer.status));
      if (answer.status >= 400) add(this.errorCodes, `${answer.status} ${codeOf(answer)}`);
    }
    if (input.isHttp && tookMs > this.slowest.ms) Object.assign(this.slowest, { ms: tookMs, index });
  }
}

function codeOf({ body }: Answer): string {
  if (body.length === 0) return 'without a body';
  const text = body.subarray(0, 400).toString('latin1');
  return (
    /"error":"(\w+)"|"type":"(\w+)"|<Code>(\w+)</.exec(text)?.slice(1).find(Boolean) ??
    'without a body of ours'
  );
}
