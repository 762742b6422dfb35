// SPDX-License-Identifier: Apache-2.0

type Work<Result> = (signal: AbortSignal) => Promise<Result>;

/**
 * Runs two pieces of work at the same time. When one fails the other is aborted. Settles when both have ended, with
 * the results or with the failure that came first.
 */
export async function sideBySide<A, B>(
  signal: AbortSignal,
  first: Work<A>,
  second: Work<B>,
): Promise<[A, B]> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const failures: unknown[] = [];
  const guarded = <Result>(work: Work<Result>): Promise<Result> =>
    work(either).catch((error: unknown) => {
      failures.push(error);
      stop.abort(error);
      throw error;
    });
  const [a, b] = await Promise.allSettled([guarded(first), guarded(second)]);
  if (a.status === 'rejected' || b.status === 'rejected') throw failures[0];
  return [a.value, b.value];
}
