// SPDX-License-Identifier: Apache-2.0

function anybody<Owner>(_owner: Owner): boolean {
  return true;
}

/** Makes an entry the last one of its map. */
export function moveToEnd<Key, Value>(map: Map<Key, Value>, key: Key): void {
  const value = map.get(key);
  if (value === undefined) return;
  map.delete(key);
  map.set(key, value);
}

/**
 * A queue that serves its owners in turn: with many items of one owner waiting, another owner's first item is next. Items
 * of one owner keep their order.
 */
export class FairQueue<Owner, Item> {
  // A Map keeps insertion order: its first entry is the owner whose turn it is.
  readonly #lanes = new Map<Owner, Item[]>();
  #lastServed: Owner | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(owner: Owner, item: Item): void {
    const lane = this.#lanes.get(owner);
    this.#size++;
    if (lane) {
      lane.push(item);
      return;
    }
    this.#lanes.set(owner, [item]);
    // Its work may still go on: a newcomer would wait for that and the next.
    if (this.#lastServed !== undefined) moveToEnd(this.#lanes, this.#lastServed);
  }

  /** Looks at the item that `shift` would give. */
  peek(mayHaveTurn = anybody<Owner>): Item | undefined {
    for (const [owner, lane] of this.#lanes) if (mayHaveTurn(owner)) return lane[0];
    return undefined;
  }

  /** @param mayHaveTurn false for owners that are passed over this time, without losing their place */
  shift(mayHaveTurn = anybody<Owner>): Item | undefined {
    for (const [owner, lane] of this.#lanes) {
      if (!mayHaveTurn(owner)) continue;
      const item = lane.shift();
      this.#lanes.delete(owner);
      if (lane.length > 0) this.#lanes.set(owner, lane);
      this.#lastServed = owner;
      this.#size--;
      return item;
    }
    return undefined;
  }

  /** Takes out one item; false if it is gone. */
  take(owner: Owner, item: Item): boolean {
    const lane = this.#lanes.get(owner) ?? [];
    const index = lane.indexOf(item);
    if (index < 0) return false;
    lane.splice(index, 1);
    if (lane.length === 0) this.#lanes.delete(owner);
    this.#size--;
    return true;
  }

  /** Takes out everything that waits for an owner. */
  remove(owner: Owner): Item[] {
    const lane = this.#lanes.get(owner) ?? [];
    this.#lanes.delete(owner);
    this.#size -= lane.length;
    return lane;
  }
}
