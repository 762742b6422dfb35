// SPDX-License-Identifier: Apache-2.0
import { Counts } from '../../base/counts.js';

/** The holder of a request, as far as known. */
export interface Holder {
  readonly key?: string | undefined;
  /** Of the link that a transfer uses. */
  readonly account?: string | undefined;
  readonly address?: string | undefined;
  /** The file that is downloaded; one of the account's. */
  readonly file?: string | undefined;
}

const holderKinds = ['key', 'account', 'address', 'file'] as const;
export type HolderKind = (typeof holderKinds)[number];

/** Percent of the units that one holder may have; of a file, of those of its account. */
export type SharePercents = Readonly<Partial<Record<HolderKind, number>>>;

export const nobody: Holder = {};

/** The obstacle to a holder's further use: too little is left, or it has its share. */
export type Obstacle = { readonly kind: 'total' } | { readonly kind: HolderKind; readonly held: number };

interface Dimension {
  readonly kind: HolderKind;
  readonly share: number;
  readonly held: Counts;
}

/**
 * A number of units that requests hold for a time, shared out by key, account and address. A holder may have its percentage of
 * the units that the others leave: alone it comes far, and the more others hold, the less it gets. With a share of half, one
 * greedy holder leaves half, two leave a third. A holder without any may always take the rest, so that no share is too small
 * for one request. A file shares its account's part with the account's other files, in the same way.
 */
export class SharedBudget {
  readonly total: number;
  readonly #dimensions: readonly Dimension[];
  #inUse = 0;

  constructor(total: number, percents: SharePercents = {}) {
    this.total = total;
    this.#dimensions = holderKinds
      .filter((kind) => (percents[kind] ?? 100) < 100)
      .map((kind) => ({ kind, share: (percents[kind] as number) / 100, held: new Counts() }));
  }

  get inUse(): number {
    return this.#inUse;
  }

  /** Undefined when `units` may be taken now. */
  obstacle(holder: Holder, units: number): Obstacle | undefined {
    // A full server is told of first: its refusal does not depend on the holder.
    if (this.#inUse + units > this.total) return { kind: 'total' };
    return this.shareObstacle(holder, units);
  }

  /** The same without regard to how much is left. */
  shareObstacle(holder: Holder, units: number): Obstacle | undefined {
    for (const dimension of this.#dimensions) {
      const held = heldBy(dimension, holder);
      if (held > 0 && held + units > this.#allowed(dimension, holder)) return { kind: dimension.kind, held };
    }
    return undefined;
  }

  /** The limit in a refusal. @param what the noun for the units */
  limitAt(obstacle: Obstacle, what: string): string {
    if (obstacle.kind === 'total') return `${this.total} ${what}`;
    return `${obstacle.held} ${what} of one ${obstacle.kind}`;
  }

  take(holder: Holder, units: number): void {
    this.#inUse += units;
    for (const dimension of this.#dimensions) change(dimension, holder, units);
  }

  give(holder: Holder, units: number): void {
    this.#inUse -= units;
    for (const dimension of this.#dimensions) change(dimension, holder, -units);
  }

  /** More than half of all units, or of the holder's share, are taken: it keeps its units from others. */
  isContended(holder: Holder): boolean {
    if (this.#inUse > this.total / 2) return true;
    return this.#dimensions.some((dimension) => {
      const held = heldBy(dimension, holder);
      return held > this.#allowed(dimension, holder) / 2;
    });
  }

  #allowed(dimension: Dimension, holder: Holder): number {
    const { kind, share } = dimension;
    const held = heldBy(dimension, holder);
    const account = kind === 'file' ? this.#dimensions.find((other) => other.kind === 'account') : undefined;
    if (account === undefined) return share * (this.total - (this.#inUse - held));
    return share * (this.#allowed(account, holder) - (heldBy(account, holder) - held));
  }
}

function heldBy({ kind, held }: Dimension, holder: Holder): number {
  const name = holder[kind];
  return name === undefined ? 0 : held.of(name);
}

function change({ kind, held }: Dimension, holder: Holder, units: number): void {
  const name = holder[kind];
  if (name !== undefined) held.change(name, units);
}
