// SPDX-License-Identifier: Apache-2.0
import { useRef, useState } from 'preact/hooks';

export interface ActionState {
  readonly isBusy: boolean;
  readonly error: unknown;
}

/** Does something once at a time, and keeps its error. */
export function useAction(act: () => Promise<void>): [run: () => Promise<void>, state: ActionState] {
  const [state, setState] = useState<ActionState>({ isBusy: false, error: undefined });
  const isBusy = useRef(false);
  const run = async (): Promise<void> => {
    if (isBusy.current) return;
    isBusy.current = true;
    setState({ isBusy: true, error: undefined });
    try {
      await act();
      setState({ isBusy: false, error: undefined });
    } catch (error) {
      setState({ isBusy: false, error });
    } finally {
      isBusy.current = false;
    }
  };
  return [run, state];
}
