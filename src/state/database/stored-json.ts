// SPDX-License-Identifier: Apache-2.0
import { isJsonObject } from '../../base/json-object.js';

/** The place of a value in the database. */
export interface ValuePlace {
  readonly table: string;
  readonly column: string;
  /** The key of the row, for people. */
  readonly row: string;
}

/** A value that this program did not write like this. Its message names the place and never quotes the value, which may be secret. */
export class DamagedValue extends Error {
  override readonly name = 'DamagedValue';

  constructor({ table, column, row }: ValuePlace) {
    super(`The value of ${column} in the table ${table} is damaged: row ${row}.`);
  }
}

/** A JSON object from the database. @throws DamagedValue */
export function storedJson<Content extends object>(
  text: string,
  place: ValuePlace,
  isContent: (content: Record<string, unknown>) => boolean = () => true,
): Content {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new DamagedValue(place);
  }
  if (!isJsonObject(content) || !isContent(content)) throw new DamagedValue(place);
  return content as Content;
}

/** Undefined instead of a damaged value: for work that must go on without it. @param onDamaged told of it */
export function unlessDamaged<Content>(
  read: () => Content,
  onDamaged?: (error: DamagedValue) => void,
): Content | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DamagedValue)) throw error;
    onDamaged?.(error);
    return undefined;
  }
}
