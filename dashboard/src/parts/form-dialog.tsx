// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.js';
import { Problem } from './problem.js';
import { useAction } from './use-action.js';

interface FormDialogProps {
  readonly title: string;
  /** The text of the button, such as `Save`. */
  readonly verb: string;
  /** Whether the fields can be sent as they are. */
  readonly isReady?: boolean;
  /** Sends the fields and closes the dialog; on failure it stays open with the error. */
  readonly act: () => Promise<void>;
  readonly onClose: () => void;
  /** The fields. */
  readonly children: ComponentChildren;
}

/** Asks for the fields of something. */
export function FormDialog({ title, verb, isReady = true, act, onClose, children }: FormDialogProps) {
  const [send, { isBusy, error }] = useAction(act);
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <div class="stack">{children}</div>
        {error !== undefined && <Problem error={error} />}
        <div class="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="main" disabled={isBusy || !isReady}>
            {verb}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
