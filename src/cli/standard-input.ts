// SPDX-License-Identifier: Apache-2.0

/** Means standard input in place of a file. */
export const STANDARD_INPUT = '-';

// The whole input is in memory.
const MAX_BYTES = 4 * 2 ** 30;

/** All of standard input, in memory only. */
export async function readStandardInput(): Promise<Uint8Array> {
  if (process.stdin.isTTY)
    throw new Error('Standard input is a terminal. Pipe a recording into it to use -.');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error('Standard input has more than 4 GiB.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
