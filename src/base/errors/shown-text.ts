// SPDX-License-Identifier: Apache-2.0
//
// Text for a terminal. A terminal obeys control characters, and a line break in a name would begin a line that seems to be ours.
import { escapeInvisible } from './visible-text.js';

class ShownText {
  readonly text: string;
  /** Otherwise any object with a text would be of this type. */
  readonly #isShown = true;

  constructor(text: string) {
    this.text = text;
  }

  static textOf(value: ShownText | string | number): string {
    return typeof value === 'object' && #isShown in value ? value.text : escapeInvisible(String(value));
  }
}

/** Text in which everything that came from elsewhere is escaped. Only the functions of this file make it. */
export type Shown = ShownText;

type Value = Shown | string | number;

const { textOf } = ShownText;

/** A template whose literal parts are ours, and whose values are not, unless they are shown text themselves. */
export function shown(literals: TemplateStringsArray, ...values: readonly Value[]): Shown {
  let text = literals[0] ?? '';
  for (const [i, value] of values.entries()) text += textOf(value) + literals[i + 1];
  return new ShownText(text);
}

export const joined = (parts: readonly Value[], separator: '' | ' ' | '  ' | ', ' | '\n' = ''): Shown =>
  new ShownText(parts.map(textOf).join(separator));

/** In a colour, or bold. */
export const styled = (style: (text: string) => string, value: Value): Shown =>
  new ShownText(style(textOf(value)));

/** A text of several lines. All but the first are indented, so that none looks like a line of ours. */
export const message = (text: string, indent = 2): Shown =>
  new ShownText(
    text
      .split('\n')
      .map(escapeInvisible)
      .join(`\n${' '.repeat(indent)}`),
  );
