// SPDX-License-Identifier: Apache-2.0
import { useRef, useState } from 'preact/hooks';
import { useKept } from '../kept.js';

export interface ActionState {
  readonly isBusy: boolean;
  readonly error: unknown;
}

type Act = () => Promise<void>;
type Action = [run: () => Promise<void>, state: ActionState];

const idle: ActionState = { isBusy: false, error: undefined };

/** Does something once at a time, and keeps its error. */
export function useAction(act: Act): Action {
  const [state, setState] = useState(idle);
  const isBusy = useRef(false);
  const run = async (): Promise<void> => {
    if (isBusy.current) return;
    isBusy.current = true;
    await follow(act, setState);
    isBusy.current = false;
  };
  return [run, state];
}

/** The same for an action that outlives its view: the next one shows that it goes on, or its error. */
export function useKeptAction(name: string, act: Act): Action {
  const [state, setState] = useKept(name, idle);
  const run = async (): Promise<void> => {
    let isFirst = false;
    setState((last) => {
      isFirst = !last.isBusy;
      return { ...last, isBusy: true };
    });
    if (isFirst) await follow(act, setState);
  };
  return [run, state];
}

async function follow(act: Act, tell: (state: ActionState) => void): Promise<void> {
  tell({ isBusy: true, error: undefined });
  try {
    await act();
    tell(idle);
  } catch (error) {
    tell({ isBusy: false, error });
  }
}
