// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  /** Also called for Escape: the owner then no longer shows the dialog. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Keeps the focus until it is closed, and gives it back to its former holder. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const headingId = useId();
  const isShown = useRef(false);
  useLayoutEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    isShown.current = true;
    return () => {
      isShown.current = false;
      dialog.current?.close();
      const heir = opener?.isConnected ? opener : document.querySelector('#main');
      if (heir instanceof HTMLElement) heir.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={headingId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={() => {
        // It comes later, when the owner may already show another one.
        if (isShown.current) onClose();
      }}
    >
      <h2 id={headingId}>{title}</h2>
      {children}
    </dialog>
  );
}
