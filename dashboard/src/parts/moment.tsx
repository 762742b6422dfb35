// SPDX-License-Identifier: Apache-2.0

const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

interface MomentProps {
  /** As the API writes it; null for `otherwise`. */
  readonly at: string | null;
  readonly otherwise?: string;
}

/** A time in the reader's language and time zone. */
export function Moment({ at, otherwise = 'never' }: MomentProps) {
  if (at === null) return <span class="soft">{otherwise}</span>;
  return <time dateTime={at}>{format.format(new Date(at))}</time>;
}
