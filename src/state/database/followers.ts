// SPDX-License-Identifier: Apache-2.0

/** Followers of a database's topics. */
export class Followers {
  readonly #byTopic = new Map<string, Set<() => void>>();
  readonly #onFirst: () => void;
  #hasBegun = false;

  /** @param onFirst called once, when there is a follower */
  constructor(onFirst: () => void) {
    this.#onFirst = onFirst;
  }

  add(topic: string, onChange: () => void): () => void {
    // One of its own, also if the same function follows twice.
    const follower = (): void => onChange();
    const followers = this.#byTopic.get(topic) ?? new Set();
    this.#byTopic.set(topic, followers.add(follower));
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      this.#onFirst();
    }
    return () => followers.delete(follower);
  }

  tell(topic: string): void {
    for (const onChange of this.#byTopic.get(topic) ?? []) onChange();
  }

  tellAll(): void {
    for (const topic of this.#byTopic.keys()) this.tell(topic);
  }
}
