// SPDX-License-Identifier: Apache-2.0
import { joined, type Shown, shown } from '../base/errors/shown-text.js';
import { escapeInvisible } from '../base/errors/visible-text.js';

/**
 * Columns two spaces apart; a heading that begins with `>` marks a column of numbers, which end where it ends. Names in cells
 * may be older than their rules, and columns of lists have any names.
 */
export function textTable(headings: readonly string[], given: readonly (readonly string[])[]): Shown {
  const rows = given.map((cells) => cells.map(escapeInvisible));
  const columns = headings.map(escapeInvisible).map((heading, index) => {
    const isNumeric = heading.startsWith('>');
    const title = isNumeric ? heading.slice(1) : heading;
    const width = Math.max(title.length, ...rows.map((row) => row[index]?.length ?? 0));
    return { title, place: (cell: string) => (isNumeric ? cell.padStart(width) : cell.padEnd(width)) };
  });
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ place }, index) => place(cells[index] ?? ''))
      .join('  ')
      .trimEnd();
  return shown`${joined([columns.map(({ title }) => title), ...rows].map(line), '\n')}\n`;
}
