// SPDX-License-Identifier: Apache-2.0

/** Does the work at the first call; later ones get the same result. */
export function once<Result>(work: () => Result): () => Result {
  let done: { readonly result: Result } | undefined;
  return () => {
    done ??= { result: work() };
    return done.result;
  };
}
