// SPDX-License-Identifier: Apache-2.0

/**
 * Works on items side by side and hands each result over in the order of the items, as soon as it is there. Only `limit`
 * results are held or waited for at a time.
 */
export async function inOrder<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
  use: (result: Result, item: Item) => void,
): Promise<void> {
  const begun: { readonly item: Item; readonly result: Promise<Result> }[] = [];
  const useFirst = async (): Promise<void> => {
    const first = begun.shift();
    if (first !== undefined) use(await first.result, first.item);
  };
  for (const item of items) {
    if (begun.length >= limit) await useFirst();
    const result = work(item);
    // A failure is thrown in its turn; until then it is not unhandled.
    result.catch(() => {});
    begun.push({ item, result });
  }
  while (begun.length > 0) await useFirst();
}

/**
 * Works on items side by side, `limit` of them at a time, each begun in their order.
 * @returns the results in the order of the items; rejects when begun work has ended, with the failure of the first item that
 * failed
 */
export async function mapInFlight<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(items.length);
  const entries = items.entries();
  const failures: { readonly i: number; readonly error: unknown }[] = [];
  const runner = async (): Promise<void> => {
    for (const [i, item] of entries) {
      if (failures.length > 0) return;
      try {
        results[i] = await work(item);
      } catch (error) {
        failures.push({ i, error });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, limit) }, runner));
  // All items before it were also begun: which fails first in time depends on the machine.
  const [first] = failures.sort((a, b) => a.i - b.i);
  if (first) throw first.error;
  return results;
}
