// SPDX-License-Identifier: Apache-2.0

/** The end of a page of rows, the newest of which come first. */
interface Place {
  readonly createdAtMs: number;
  readonly id: string;
}

export const cursorAt = ({ createdAtMs, id }: Place): string =>
  Buffer.from(`${createdAtMs} ${id}`).toString('base64url');

/** @throws RangeError if the cursor does not come from an earlier page */
export function placeOf(cursor: string): [createdAtMs: number, id: string] {
  const [, createdAtMs, id] =
    /^(\d{1,15}) ([0-9a-f-]{12,36})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (createdAtMs === undefined || id === undefined) throw new RangeError('Not a cursor of an earlier page.');
  return [Number(createdAtMs), id];
}
