// SPDX-License-Identifier: Apache-2.0

/** A queue of work. Work of the accounts in `except` is not taken, or does not count. */
export interface WaitingWork<Work> {
  take(except: readonly string[]): Promise<Work | undefined>;
  /** Whether `take` would find something. */
  waits(except: readonly string[]): Promise<boolean>;
}

export interface FairPlacesOptions {
  /** Pieces of work at once. */
  readonly places: number;
  /** Of one account; all by default. */
  readonly perAccount?: number;
  /** In addition, for accounts without any work in hand: they need not wait for long work of others. */
  readonly spare?: number;
}

/**
 * Distributes the places of this process. Free ones go to accounts without work in hand first, then to the others. If all are
 * taken and such an account waits, one with the most work in hand makes room, and comes again after all others that wait.
 */
export class FairPlaces {
  readonly #options: Required<FairPlacesOptions>;
  readonly #inHand = new Map<string, number>();
  /** Accounts that had their turn since one made room, as long as others wait for theirs. */
  readonly #hadTurn = new Set<string>();
  #othersWait = false;
  #busy = 0;

  constructor({ places, perAccount = places, spare = 0 }: FairPlacesOptions) {
    this.#options = { places, perAccount, spare };
  }

  /** Places that are taken. */
  get busy(): number {
    return this.#busy;
  }

  /** Takes as much as there are places for. @param begin calls `enter` */
  async fill<Work>(waiting: WaitingWork<Work>, begin: (work: Work) => void): Promise<void> {
    const { places, spare } = this.#options;
    while (this.#busy < places + spare) {
      const work = await this.#next(waiting);
      if (work === undefined) {
        this.#othersWait = false;
        return;
      }
      begin(work);
    }
    this.#othersWait = this.#busy > 0 && (await waiting.waits([...this.#inHand.keys()]));
  }

  enter(account: string): void {
    this.#busy++;
    this.#inHand.set(account, (this.#inHand.get(account) ?? 0) + 1);
    if (this.#hadTurn.size > 0) this.#hadTurn.add(account);
  }

  leave(account: string): void {
    this.#busy--;
    const left = (this.#inHand.get(account) ?? 0) - 1;
    if (left > 0) this.#inHand.set(account, left);
    else this.#inHand.delete(account);
  }

  /** Whether a turn of this account should end for others. If so, it counts as ended: the next question is answered no. */
  makesRoom(account: string): boolean {
    const isWanted = this.#othersWait && this.#inHand.get(account) === Math.max(...this.#inHand.values());
    if (!isWanted) return false;
    this.#othersWait = false;
    this.#hadTurn.add(account);
    return true;
  }

  async #next<Work>({ take }: WaitingWork<Work>): Promise<Work | undefined> {
    const { places, perAccount } = this.#options;
    const later = new Set([...this.#inHand.keys(), ...this.#hadTurn]);
    const isRound = this.#hadTurn.size > 0;
    const found = await take([...later]);
    if (found !== undefined) return found;
    this.#hadTurn.clear();
    if (this.#busy < places) {
      if (later.size === 0) return undefined;
      return take([...this.#inHand].filter(([, work]) => work >= perAccount).map(([account]) => account));
    }
    return isRound ? take([...this.#inHand.keys()]) : undefined;
  }
}
