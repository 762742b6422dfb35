// SPDX-License-Identifier: Apache-2.0
//
// This room decides whose work a thread takes next: queues in which owners take turns, the share of
// background work, and the priority of threads.
import { FairQueue, moveToEnd } from './fair-queue.js';

/**
 * The same as a FairQueue, with owners in groups that take turns first: a group with many owners gets no more than one
 * with a single owner.
 */
export class GroupedFairQueue<Owner extends { readonly group: string }, Item> {
  // jscpd:ignore-start: both kinds of queue count their items, and share nothing else.
  // As in FairQueue: the first entry is the group whose turn it is.
  readonly #groups = new Map<string, FairQueue<Owner, Item>>();
  #lastServed = '';
  #size = 0;

  get size(): number {
    return this.#size;
  }
  // jscpd:ignore-end

  push(owner: Owner, item: Item): void {
    let queue = this.#groups.get(owner.group);
    if (queue === undefined) {
      queue = new FairQueue();
      this.#groups.set(owner.group, queue);
      moveToEnd(this.#groups, this.#lastServed);
    }
    queue.push(owner, item);
    this.#size++;
  }

  /** Looks at the item that `shift` would give. */
  peek(): Item | undefined {
    for (const queue of this.#groups.values()) return queue.peek();
    return undefined;
  }

  shift(): Item | undefined {
    for (const [group, queue] of this.#groups) {
      const item = queue.shift();
      this.#groups.delete(group);
      if (queue.size > 0) this.#groups.set(group, queue);
      this.#lastServed = group;
      this.#size--;
      return item;
    }
    return undefined;
  }

  /** Takes out everything that waits for an owner. */
  remove(owner: Owner): Item[] {
    const queue = this.#groups.get(owner.group);
    const items = queue?.remove(owner) ?? [];
    if (queue?.size === 0) this.#groups.delete(owner.group);
    this.#size -= items.length;
    return items;
  }
}
