// SPDX-License-Identifier: Apache-2.0
import { printable } from '../logic/printable.js';

/** A text that somebody else chose, such as the name of a file. */
export function Name({ text }: { readonly text: string }) {
  return <bdi class="name">{printable(text)}</bdi>;
}
