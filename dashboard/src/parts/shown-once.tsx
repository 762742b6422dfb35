// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface ShownOnceProps {
  readonly title: ComponentChildren;
  /** Changes with the secret shown: each is announced. */
  readonly id: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A secret that the server cannot show again. Not in a dialog: Escape would lose it. */
export function ShownOnce({ title, id, onClose, children }: ShownOnceProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const headingId = useId();
  useLayoutEffect(() => heading.current?.focus(), [id]);
  return (
    <section class="notice" aria-labelledby={headingId}>
      <h2 id={headingId} ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {children}
      <button type="button" onClick={onClose}>
        I have copied it
      </button>
    </section>
  );
}
