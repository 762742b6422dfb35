// SPDX-License-Identifier: Apache-2.0
import { someAnalysis } from './analyser-double.js';
import type { TestServer } from './test-server.js';

export interface HeldAnalyses {
  /** Resolves when so many analyses are running. */
  running(count: number): Promise<void>;
  /** Lets those that wait finish, and all that come later. */
  finish(): void;
}

/** Makes analyses wait until they are told to finish. */
export function holdAnalyses({ analyser }: TestServer): HeldAnalyses {
  let finish = (): void => {};
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let changed = (): void => {};
  analyser.answer = async () => {
    changed();
    await gate;
    return someAnalysis;
  };
  async function running(count: number): Promise<void> {
    while (analyser.running < count) {
      await new Promise<void>((resolve) => {
        changed = resolve;
      });
    }
  }
  return { running, finish };
}
