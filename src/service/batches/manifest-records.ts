// SPDX-License-Identifier: Apache-2.0
import { Readable } from 'node:stream';
import type { CsvError } from 'csv-parse';
import type { ByteSource } from '../../base/byte-source/byte-source.js';
import { ServiceError } from '../../base/errors/service-error.js';

/** What a line says, or undefined for one that is not JSON. */
export type ManifestRecord = Record<string, unknown> | undefined;

const BLOCK_BYTES = 1 << 20;
const MAX_RECORD_CHARS = 32 * 1024;
export const MAX_MANIFEST_BYTES = 256 << 20;

const invalid = (problem: string): ServiceError => new ServiceError('MANIFEST_INVALID', { problem });

/** The text of a stored manifest, in blocks. @throws ServiceError MANIFEST_INVALID, or as the source does */
export async function* textOf(source: ByteSource, signal: AbortSignal): AsyncGenerator<string, void, void> {
  if (source.bytes > MAX_MANIFEST_BYTES) throw invalid(`it has more than ${MAX_MANIFEST_BYTES} bytes`);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (let offset = 0; offset < source.bytes; offset += BLOCK_BYTES) {
    const block = new Uint8Array(Math.min(BLOCK_BYTES, source.bytes - offset));
    await source.read(block, offset, signal);
    yield decoded(decoder, block, offset + block.length < source.bytes);
  }
}

function decoded(decoder: InstanceType<typeof TextDecoder>, block: Uint8Array, stream: boolean): string {
  try {
    return decoder.decode(block, { stream });
  } catch {
    throw invalid('it is not UTF-8');
  }
}

/**
 * The records of a manifest in their order: JSON lines if it begins with `{`, CSV with a header otherwise. Empty lines are left out.
 * @throws ServiceError MANIFEST_INVALID, or what the text throws
 */
export async function* manifestRecords(
  text: AsyncIterable<string>,
): AsyncGenerator<ManifestRecord, void, void> {
  const blocks = text[Symbol.asyncIterator]();
  let start = '';
  while (start.trim() === '') {
    const { done, value } = await blocks.next();
    if (done) throw invalid('it is empty');
    start += value;
  }
  async function* whole(): AsyncGenerator<string, void, void> {
    yield start;
    yield* { [Symbol.asyncIterator]: () => blocks };
  }
  if (start.trimStart().startsWith('{')) yield* jsonRecords(whole());
  else yield* csvRecords(whole());
}

async function* jsonRecords(text: AsyncIterable<string>): AsyncGenerator<ManifestRecord, void, void> {
  let rest = '';
  for await (const block of text) {
    const lines = (rest + block).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_RECORD_CHARS)
      throw invalid(`it has a line of more than ${MAX_RECORD_CHARS} characters`);
    for (const line of lines) if (line.trim() !== '') yield jsonRecord(line);
  }
  if (rest.trim() !== '') yield jsonRecord(rest);
}

function jsonRecord(line: string): ManifestRecord {
  if (line.length > MAX_RECORD_CHARS) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

async function* csvRecords(text: AsyncIterable<string>): AsyncGenerator<ManifestRecord, void, void> {
  const { parse } = await import('csv-parse');
  const parser = Readable.from(text).compose(
    parse({
      columns: true,
      bom: true,
      skip_empty_lines: true,
      trim: true,
      max_record_size: MAX_RECORD_CHARS,
    }),
  );
  let isFirst = true;
  try {
    for await (const record of parser as AsyncIterable<Record<string, string>>) {
      if (isFirst && !('key' in record) && !('presigned_url' in record)) {
        throw invalid('its header has neither key nor presigned_url');
      }
      isFirst = false;
      // An empty cell is a field that is not given.
      yield Object.fromEntries(Object.entries(record).filter(([, value]) => value !== ''));
    }
  } catch (error) {
    const { code, message } = error as CsvError;
    if (typeof code === 'string' && code.startsWith('CSV_')) throw invalid(`it is not CSV: ${message}`);
    throw error;
  }
  if (isFirst) throw invalid('it has no lines');
}
