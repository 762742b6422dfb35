// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { Wide } from './wide.js';

/** The head of a column: of words, or of numbers, which are aligned by their ends. */
export type Column = string | { readonly number: ComponentChildren };

interface TableProps {
  /** The table's subject. */
  readonly label: string;
  /** Shown above it. */
  readonly caption?: string;
  readonly columns: readonly Column[];
  /** The rows. */
  readonly children: ComponentChildren;
}

/** A table with a head, which scrolls sideways by itself if it is wider than the page. */
export const Table = ({ label, caption, columns, children }: TableProps) => (
  <Wide label={label}>
    <table>
      {caption !== undefined && <caption>{caption}</caption>}
      <thead>
        <tr>
          {columns.map((column, i) =>
            // Heads may be alike.
            typeof column === 'string' ? (
              <th key={i} scope="col">
                {column}
              </th>
            ) : (
              <th key={i} scope="col" class="number">
                {column.number}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </Wide>
);
