// SPDX-License-Identifier: Apache-2.0

import { escapeInvisible } from '../base/errors/visible-text.js';

/**
 * Columns two spaces apart; a heading that begins with `>` marks a column of numbers, which end where it ends. Names in cells
 * may be older than their rules.
 */
export function textTable(headings: readonly string[], given: readonly (readonly string[])[]): string {
  const rows = given.map((cells) => cells.map(escapeInvisible));
  const columns = headings.map((heading, index) => {
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
  return `${[columns.map(({ title }) => title), ...rows].map(line).join('\n')}\n`;
}
