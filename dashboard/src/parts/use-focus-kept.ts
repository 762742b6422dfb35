// SPDX-License-Identifier: Apache-2.0
import { useLayoutEffect } from 'preact/hooks';

/** Moves the focus to the content if its holder is gone, such as the button in a row that no longer exists. @param list the items behind the rows */
export function useFocusKept(list: unknown): void {
  useLayoutEffect(() => {
    if (document.activeElement === document.body) document.querySelector<HTMLElement>('#main')?.focus();
  }, [list]);
}
