// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';

export interface Pages {
  /** For the request; undefined on the first page. */
  readonly cursor: string | undefined;
  /** From 1 on. */
  readonly page: number;
  readonly onBack: (() => void) | undefined;
  next(cursor: string | null | undefined): (() => void) | undefined;
}

/** The way through a list whose pages name only the next one. @param list another one begins at its first page */
export function usePages(list: string): Pages {
  const [state, setState] = useState<{ readonly list: string; readonly cursors: readonly string[] }>({
    list,
    cursors: [],
  });
  const cursors = state.list === list ? state.cursors : [];
  return {
    cursor: cursors.at(-1),
    page: cursors.length + 1,
    onBack: cursors.length === 0 ? undefined : () => setState({ list, cursors: cursors.slice(0, -1) }),
    next: (cursor) =>
      cursor === null || cursor === undefined
        ? undefined
        : () => setState({ list, cursors: [...cursors, cursor] }),
  };
}
