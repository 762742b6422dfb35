// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { someAnalysis } from './analyser-double.js';
import { eventually } from './eventually.js';
import type { TestServer } from './test-server.js';

export interface HeldAnalyses {
  /** Resolves when this many analyses are running. */
  running(count: number): Promise<void>;
  /** The answer to a request that is not analysed; awaiting one that is would never end. */
  refusal<Answer>(asked: Promise<Answer>): Promise<Answer>;
  /** Releases all waiting and later analyses. */
  finish(): void;
}

/** Makes analyses wait for permission to finish. */
export function holdAnalyses({ analyser }: TestServer): HeldAnalyses {
  let finish = (): void => {};
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  analyser.answer = async () => {
    await gate;
    return someAnalysis;
  };
  return {
    finish,
    running: (count) => eventually(() => analyser.running >= count, `${count} analyses are running`),
    async refusal(asked) {
      const before = analyser.running;
      let isAnswered = false;
      const answer = asked.finally(() => {
        isAnswered = true;
      });
      await eventually(() => isAnswered || analyser.running > before, 'it is answered');
      assert.equal(analyser.running, before, 'it was admitted');
      return answer;
    },
  };
}
