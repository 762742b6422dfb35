// SPDX-License-Identifier: Apache-2.0
//
// The text of a manifest, record by record. No text is read twice: the time is in proportion to its length.
import { Readable } from 'node:stream';
import type { CsvError } from 'csv-parse';
import { isJsonObject } from '../../base/json-object.js';

/** The object on a line, or undefined if it is not a JSON object. */
export type ManifestRecord = Record<string, unknown> | undefined;

const MAX_RECORD_CHARS = 32 * 1024;

/** The fault of a manifest, in a few words. */
export class ManifestInvalid extends Error {
  override readonly name = 'ManifestInvalid';
}

/**
 * The records of a manifest in their order: JSON lines if it begins with `{`, CSV with a header otherwise. Empty lines are left out.
 * @param text in pieces of any length
 * @throws ManifestInvalid, or the errors of the text
 */
export async function* manifestRecords(
  text: AsyncIterable<string>,
): AsyncGenerator<ManifestRecord, void, void> {
  const pieces = text[Symbol.asyncIterator]();
  let start = '';
  while (start === '') {
    const { done, value } = await pieces.next();
    if (done) throw new ManifestInvalid('it is empty');
    // Spaces in front, and the mark of the byte order, mean nothing.
    start = value.trimStart();
  }
  async function* whole(): AsyncGenerator<string, void, void> {
    yield start;
    yield* { [Symbol.asyncIterator]: () => pieces };
  }
  yield* start.startsWith('{') ? jsonRecords(whole()) : csvRecords(whole());
}

async function* jsonRecords(text: AsyncIterable<string>): AsyncGenerator<ManifestRecord, void, void> {
  let rest = '';
  for await (const piece of text) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_RECORD_CHARS)
      throw new ManifestInvalid(`it has a line of more than ${MAX_RECORD_CHARS} characters`);
    for (const line of lines) if (line.trim() !== '') yield jsonRecord(line);
  }
  if (rest.trim() !== '') yield jsonRecord(rest);
}

function jsonRecord(line: string): ManifestRecord {
  if (line.length > MAX_RECORD_CHARS) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

async function* csvRecords(text: AsyncIterable<string>): AsyncGenerator<ManifestRecord, void, void> {
  const { parse } = await import('csv-parse');
  const parser = Readable.from(text).compose(
    parse({
      columns: true,
      skip_empty_lines: true,
      trim: true,
      max_record_size: MAX_RECORD_CHARS,
    }),
  );
  let isFirst = true;
  try {
    for await (const record of parser as AsyncIterable<Record<string, string>>) {
      if (isFirst && !('key' in record) && !('presigned_url' in record)) {
        throw new ManifestInvalid('its header has neither key nor presigned_url');
      }
      isFirst = false;
      // An empty cell is a field that is not given.
      yield Object.fromEntries(Object.entries(record).filter(([, value]) => value !== ''));
    }
  } catch (error) {
    const { code, message } = error as CsvError;
    if (typeof code === 'string' && code.startsWith('CSV_'))
      throw new ManifestInvalid(`it is not CSV: ${message}`);
    throw error;
  }
  if (isFirst) throw new ManifestInvalid('it has no lines');
}
