// SPDX-License-Identifier: Apache-2.0

/** Columns two spaces apart; a heading that begins with `>` marks a column of numbers, which end where it ends. */
export function textTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
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
