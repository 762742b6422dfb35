// SPDX-License-Identifier: Apache-2.0

/** Up to this many surplus, missing or wrong letters count as a typing error. */
const MOST_WRONG_LETTERS = 2;

/** The most likely intended spelling; undefined if none is near. */
export function nearest(text: string, spellings: readonly string[]): string | undefined {
  const [best] = spellings
    .map((spelling) => ({ spelling, distance: editDistance(text, spelling) }))
    .filter(({ distance }) => distance <= MOST_WRONG_LETTERS)
    .sort((a, b) => a.distance - b.distance);
  return best?.spelling;
}

/** Letters to add, remove or replace to turn one text into the other (Levenshtein). */
function editDistance(a: string, b: string): number {
  // Saves the work for long names of other programs' variables.
  if (Math.abs(a.length - b.length) > MOST_WRONG_LETTERS) return Number.POSITIVE_INFINITY;
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (previous[j] as number) + 1, (row[j - 1] as number) + 1));
    }
    previous = row;
  }
  return previous[b.length] as number;
}
