// SPDX-License-Identifier: Apache-2.0
import { at, label, line, uprightLabel } from './svg.js';

export interface Tick {
  readonly value: number;
  readonly text: string;
}

export interface Axis {
  readonly title: string;
  readonly ticks: readonly Tick[];
  /** From a value to its place on the axis: 0 at its beginning, 1 at its end. */
  place(value: number): number;
}

export const WIDTH = 460;
export const HEIGHT = 400;
const left = 64;
const top = 64;
const right = WIDTH - 20;
const bottom = HEIGHT - 52;

export const percent = (share: number, decimals = 1): string => `${(share * 100).toFixed(decimals)} %`;

/** A share without decimals that say nothing, for ticks. */
export const percentTick = (share: number): string => `${Number((share * 100).toPrecision(3))} %`;

/** An axis from 0 to `end` with five steps. */
export function linearAxis(title: string, end: number, text: (value: number) => string): Axis {
  const ticks = Array.from({ length: 6 }, (_, i) => ({ value: (i * end) / 5, text: text((i * end) / 5) }));
  return { title, ticks, place: (value) => value / end };
}

/** The area of a plot, between two axes. */
export class Frame {
  readonly #x: Axis;
  readonly #y: Axis;

  constructor(x: Axis, y: Axis) {
    this.#x = x;
    this.#y = y;
  }

  x(value: number): number {
    return left + this.#x.place(value) * (right - left);
  }

  y(value: number): number {
    return bottom - this.#y.place(value) * (bottom - top);
  }

  /** Whether a point lies between the axes. */
  holds(x: number, y: number): boolean {
    const [across, up] = [this.#x.place(x), this.#y.place(y)];
    return across >= 0 && across <= 1 && up >= 0 && up <= 1;
  }

  /** Grid, ticks and titles, and in front of them the content, cut off at the frame. */
  around(content: string, notes = ''): string {
    const across = this.#x.ticks.map(({ value, text }) => {
      const x = this.x(value);
      return line(x, top, x, bottom, 'grid') + label(x, bottom + 17, text, 'middle', 'muted');
    });
    const up = this.#y.ticks.map(({ value, text }) => {
      const y = this.y(value);
      return line(left, y, right, y, 'grid') + label(left - 6, y + 4, text, 'end', 'muted');
    });
    const [width, height] = [right - left, bottom - top];
    const clipped =
      `<svg x="${at(left)}" y="${at(top)}" width="${at(width)}" height="${at(height)}" ` +
      `viewBox="${at(left)} ${at(top)} ${at(width)} ${at(height)}">${content}</svg>`;
    const border = `<rect x="${at(left)}" y="${at(top)}" width="${at(width)}" height="${at(height)}" class="frame"/>`;
    const titles =
      label((left + right) / 2, HEIGHT - 14, this.#x.title, 'middle') +
      uprightLabel(16, (top + bottom) / 2, this.#y.title);
    return [...across, ...up, clipped, border, titles, notes].join('');
  }
}

/** Names of the two classes in their colours, under a drawing's title. */
export function legend(entries: readonly (readonly [kind: 'positive' | 'negative', text: string])[]): string {
  let x = left;
  return entries
    .map(([kind, text]) => {
      const entry = `<rect x="${at(x)}" y="40" width="10" height="10" class="${kind}"/>${label(x + 16, 49, text)}`;
      x += 36 + text.length * 7;
      return entry;
    })
    .join('');
}
