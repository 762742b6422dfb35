// SPDX-License-Identifier: Apache-2.0

type Work<Result> = (signal: AbortSignal) => Promise<Result>;

/**
 * Runs two pieces of work at the same time. Settles when both have ended, with the results or with a failure. If both fail, that of
 * the first counts, whichever comes earlier: the same input always ends alike. So only a failure of the first aborts the other.
 */
export async function sideBySide<A, B>(
  signal: AbortSignal,
  first: Work<A>,
  second: Work<B>,
): Promise<[A, B]> {
  const stop = new AbortController();
  const firstDone = first(signal).catch((error: unknown) => {
    stop.abort(error);
    throw error;
  });
  const [a, b] = await Promise.allSettled([firstDone, second(AbortSignal.any([signal, stop.signal]))]);
  if (a.status === 'rejected') throw a.reason;
  if (b.status === 'rejected') throw b.reason;
  return [a.value, b.value];
}
