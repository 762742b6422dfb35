// SPDX-License-Identifier: Apache-2.0

const units = ['kB', 'MB', 'GB', 'TB'] as const;

/** A size, such as `812 bytes` or `4.2 MB`. */
export function bytesInWords(bytes: number): string {
  if (bytes < 1000) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  let value = bytes / 1000;
  let unit = 0;
  for (; value >= 999.5 && unit < units.length - 1; unit++) value /= 1000;
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}
