// SPDX-License-Identifier: Apache-2.0

const two = (value: number): string => String(value).padStart(2, '0');

/** A time in a recording, such as `0:05`, `12:03.5` or `6:00:00`. @param digits after the point, if they are not zero */
export function clock(timeS: number, digits = 1): string {
  const factor = 10 ** digits;
  const units = Math.round(Math.max(0, timeS) * factor);
  const seconds = Math.floor(units / factor);
  const rest = units % factor;
  const fraction = rest === 0 ? '' : `.${String(rest).padStart(digits, '0').replace(/0+$/, '')}`;
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const ended = `${two(seconds % 60)}${fraction}`;
  return hours > 0 ? `${hours}:${two(minutes)}:${ended}` : `${minutes}:${ended}`;
}

const stepsS = [
  ...[0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400],
  ...[28_800, 86_400],
];

/** Round times in a span, at most `most`. */
export function ticksIn(startS: number, endS: number, most: number): number[] {
  const lengthS = endS - startS;
  const stepS = stepsS.find((step) => lengthS / step <= most) ?? 86_400 * Math.ceil(lengthS / 86_400 / most);
  const ticks: number[] = [];
  for (let i = Math.ceil(startS / stepS); i * stepS <= endS; i++) ticks.push(i * stepS);
  return ticks;
}
