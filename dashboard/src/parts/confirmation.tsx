// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.js';
import { Problem } from './problem.js';
import { useAction } from './use-action.js';

interface ConfirmationProps {
  readonly title: string;
  /** The text of the button, such as `Revoke`. */
  readonly verb: string;
  /** Done when the reader agrees; on failure it stays open with the error. */
  readonly act: () => Promise<void>;
  readonly onClose: () => void;
  /** The consequences. */
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
