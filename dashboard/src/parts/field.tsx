// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  /** Gets the ids for the control: `id`, and `aria-describedby` if there is a hint. */
  children(ids: { readonly id: string; readonly 'aria-describedby'?: string }): ComponentChildren;
}

/** A control with its label and hint. */
export function Field({ label, hint, children }: FieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(hint === undefined ? { id } : { id, 'aria-describedby': hintId })}
      {hint !== undefined && (
        <span class="hint" id={hintId}>
          {hint}
        </span>
      )}
    </div>
  );
}
