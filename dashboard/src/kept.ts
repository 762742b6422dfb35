// SPDX-License-Identifier: Apache-2.0
//
// Kept by views while the page is open: a result outlives a look at another view, and a new sign-in of the same user.
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Listeners } from './logic/listeners.js';
import { type Session, useSession } from './session.js';

/** The results of one user on this page. */
export class Kept {
  readonly #values = new Map<string, unknown>();
  readonly #listeners = new Map<string, Listeners>();
  readonly #ending = new AbortController();
  readonly #followers = new Set<(session: Session) => void>();

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
    this.#listeners.get(name)?.tell();
  }

  /** @param listener called after changes of this value @returns a function that ends it */
  listen(name: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Listeners();
    this.#listeners.set(name, listeners);
    return listeners.add(listener);
  }

  /** @param follower told of each new sign-in of the user */
  followSession(follower: (session: Session) => void): void {
    this.#followers.add(follower);
  }

  enter(session: Session): void {
    for (const follower of this.#followers) follower(session);
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

/** Like `useState`, for a value that outlives the view. A request that outlives the view sets it for the next one. */
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
    },
    [kept, name, first],
  );
  useLayoutEffect(() => {
    const show = (): void => setValue(() => kept.get(name, () => first));
    show();
    return kept.listen(name, show);
  }, [kept, name, first]);
  return [value, change];
}
