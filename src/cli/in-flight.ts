// SPDX-License-Identifier: Apache-2.0

/**
 * Works on items side by side, `limit` of them at a time, each begun in their order.
 * @returns the results in the order of the items; rejects with the first failure, when what was begun has ended
 */
export async function mapInFlight<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(items.length);
  const entries = items.entries();
  let isFailed = false;
  const runner = async (): Promise<void> => {
    for (const [i, item] of entries) {
      if (isFailed) return;
      try {
        results[i] = await work(item);
      } catch (error) {
        isFailed = true;
        throw error;
      }
    }
  };
  const runners = await Promise.allSettled(Array.from({ length: Math.max(1, limit) }, runner));
  const failed = runners.find((runner) => runner.status === 'rejected');
  if (failed) throw failed.reason;
  return results;
}
