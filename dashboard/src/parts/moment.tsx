// SPDX-License-Identifier: Apache-2.0
import { useContext } from 'preact/hooks';
import { Still } from './still.js';

const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

interface MomentProps {
  /** As the API writes it; null for `otherwise`. */
  readonly at: string | null;
  readonly otherwise?: string;
}

/** A time in the reader's language and time zone; a still page knows neither. */
export function Moment({ at, otherwise = 'never' }: MomentProps) {
  const isStill = useContext(Still);
  if (at === null) return <span class="soft">{otherwise}</span>;
  return <time dateTime={at}>{isStill ? at : format.format(new Date(at))}</time>;
}
