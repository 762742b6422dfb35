// SPDX-License-Identifier: Apache-2.0
import type { AdminUsageRow } from '../contract/usage.js';

const columns = [
  'day',
  'account',
  'key_id',
  'key_name',
  'route',
  'requests',
  'errors',
  'audio_s',
  'windows',
  'bytes',
] as const satisfies readonly (keyof AdminUsageRow)[];

/**
 * The beginning of a formula to a spreadsheet, also behind spaces and quotes, and in the wide forms of East Asian scripts.
 */
const FORMULA = /(^|;)(?=[\s"]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: names of earlier versions may have them
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/** Always quoted. Spreadsheets of some countries split at semicolons, and then do not see quotes within a line. */
function quoted(text: string): string {
  const line = text.replace(CONTROL, ' ');
  return `"${line.replace(FORMULA, "$1'").replaceAll('"', '""')}"`;
}

const cellOf = (value: string | number | null): string =>
  typeof value === 'number' ? String(value) : quoted(value ?? '');

export const usageCsvHeader = `${columns.join(',')}\r\n`;

/** A line of a table by RFC 4180 that no spreadsheet executes. */
export const usageCsvLine = (row: AdminUsageRow): string =>
  `${columns.map((column) => cellOf(row[column])).join(',')}\r\n`;
