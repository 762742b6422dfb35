// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.js';
import { Problem } from './problem.js';
import { useAction } from './use-action.js';

interface ConfirmationProps {
  readonly title: string;
  /** What the button says, such as `Revoke`. */
  readonly verb: string;
  /** Done when the reader agrees; the dialog stays open with what went wrong. */
  readonly act: () => Promise<void>;
  readonly onClose: () => void;
  /** What will happen. */
  readonly children: ComponentChildren;
}

/** Asks before something that cannot be undone. */
export function Confirmation({ title, verb, act, onClose, children }: ConfirmationProps) {
  const [run, state] = useAction(act);
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {state.error !== undefined && <Problem error={state.error} />}
      <div class="row">
        <button type="button" class="danger" disabled={state.isBusy} onClick={run}>
          {verb}
        </button>
        <button type="button" autofocus onClick={onClose}>
          Go back
        </button>
      </div>
    </Dialog>
  );
}
