// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';

interface WideProps {
  /** The contents' name. */
  readonly label: string;
  readonly children: ComponentChildren;
}

/** Scrolls sideways by itself if a table is wider than the page. */
export const Wide = ({ label, children }: WideProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
  <section class="wide" aria-label={label} tabIndex={0}>
    {children}
  </section>
);
