// SPDX-License-Identifier: Apache-2.0
//
// Kept by views while the page is open: a result outlives a look at another view, and a new sign-in of the same user.
import { useCallback, useRef, useState } from 'preact/hooks';
import { useSession } from './session.js';

/** The results of one user on this page. */
export class Kept {
  readonly #values = new Map<string, unknown>();
  readonly #ending = new AbortController();

  /** Aborted when another user signs in, or this one signs out. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** @param make called if there is no such value yet */
  get<Value>(name: string, make: () => Value): Value {
    if (!this.#values.has(name)) this.#values.set(name, make());
    return this.#values.get(name) as Value;
  }

  set(name: string, value: unknown): void {
    this.#values.set(name, value);
  }

  end(): void {
    this.#values.clear();
    this.#ending.abort();
  }
}

let current: { readonly userId: string; readonly kept: Kept } | undefined;

/** The values of a user; those of anybody else are gone then. */
export function keptOf(userId: string): Kept {
  if (current?.userId !== userId) {
    forgetKept();
    current = { userId, kept: new Kept() };
  }
  return current.kept;
}

export function forgetKept(): void {
  current?.kept.end();
  current = undefined;
}

/** Like `useState`, for a value that outlives the view. A value that a request sets after the view was left is there on return. */
export function useKept<Value>(
  name: string,
  initial: Value,
): [value: Value, change: (next: Value | ((last: Value) => Value)) => void] {
  const kept = keptOf(useSession().user.id);
  const first = useRef(initial).current;
  const [value, setValue] = useState(() => kept.get(name, () => first));
  const change = useCallback(
    (next: Value | ((last: Value) => Value)): void => {
      const last = kept.get(name, () => first);
      const changed = typeof next === 'function' ? (next as (last: Value) => Value)(last) : next;
      kept.set(name, changed);
      setValue(() => changed);
    },
    [kept, name, first],
  );
  return [value, change];
}
