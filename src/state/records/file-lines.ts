// SPDX-License-Identifier: Apache-2.0
import { createReadStream } from 'node:fs';

export interface FileLine {
  /** Without the line break. */
  readonly text: string;
  /** With the line break, if there is one. */
  readonly bytes: number;
}

/** The lines of a part of a file, the last one also if it has no line break. The file may grow meanwhile. */
export async function* fileLines(file: string, start: number, end: number): AsyncGenerator<FileLine> {
  if (end <= start) return;
  let pieces: Buffer[] = [];
  for await (const chunk of createReadStream(file, { start, end: end - 1 })) {
    let rest = chunk as Buffer;
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      const line = Buffer.concat([...pieces, rest.subarray(0, at)]);
      pieces = [];
      rest = rest.subarray(at + 1);
      yield { text: line.toString(), bytes: line.length + 1 };
    }
    if (rest.length > 0) pieces.push(rest);
  }
  const last = Buffer.concat(pieces);
  if (last.length > 0) yield { text: last.toString(), bytes: last.length };
}
