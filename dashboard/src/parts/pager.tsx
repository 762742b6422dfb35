// SPDX-License-Identifier: Apache-2.0

interface PagerProps {
  /** From 1 on. */
  readonly page: number;
  readonly onBack: (() => void) | undefined;
  readonly onNext: (() => void) | undefined;
}

/** Leads through the pages of a list. Nothing, if there is only one. */
export function Pager({ page, onBack, onNext }: PagerProps) {
  if (onBack === undefined && onNext === undefined) return null;
  return (
    <nav class="row" aria-label="Pages">
      <button type="button" disabled={onBack === undefined} onClick={onBack}>
        Newer
      </button>
      <span class="page-number">Page {page}</span>
      <button type="button" disabled={onNext === undefined} onClick={onNext}>
        Older
      </button>
    </nav>
  );
}
