// SPDX-License-Identifier: Apache-2.0
//
// Matches rows of a report to the reader's files. A report has the paths of a list, seen from the list's folder; the browser
// gives paths from the chosen folder, or names only.

export interface Found<Item> {
  /** As the report has it. */
  readonly name: string;
  /** Undefined if there is none, or no single best one. */
  readonly item: Item | undefined;
  readonly isAmbiguous: boolean;
}

const segmentsOf = (path: string): string[] =>
  path
    .split(/[/\\]/)
    .filter((segment) => segment !== '' && segment !== '.')
    .map((segment) => segment.normalize());

/** The files of a row: a trial has an enrolment and a sample, and each may be joined from several files. */
export const filesNamedIn = (name: string, isTrial: boolean): string[] =>
  (isTrial ? name.split(/ \| |;/) : [name]).map((part) => part.trim()).filter((part) => part !== '');

/** The number of equal last segments. */
function commonEnd(a: readonly string[], b: readonly string[]): number {
  let count = 0;
  while (count < Math.min(a.length, b.length) && a.at(-1 - count) === b.at(-1 - count)) count++;
  return count;
}

/** Finds files by the longest common end of their paths. */
export class FileMatcher<Item> {
  readonly #byName = new Map<string, { readonly segments: readonly string[]; readonly item: Item }[]>();

  /** @param items with their paths */
  constructor(items: Iterable<readonly [path: string, item: Item]>) {
    for (const [path, item] of items) {
      const segments = segmentsOf(path);
      const name = segments.at(-1) ?? '';
      const same = this.#byName.get(name);
      if (same === undefined) this.#byName.set(name, [{ segments, item }]);
      else same.push({ segments, item });
    }
  }

  find(name: string): Found<Item> {
    const wanted = segmentsOf(name);
    const candidates = (this.#byName.get(wanted.at(-1) ?? '') ?? []).map(({ segments, item }) => ({
      item,
      common: commonEnd(wanted, segments),
    }));
    const most = Math.max(0, ...candidates.map(({ common }) => common));
    const best = candidates.filter(({ common }) => common === most);
    return { name, item: best.length === 1 ? best[0]?.item : undefined, isAmbiguous: best.length > 1 };
  }
}
