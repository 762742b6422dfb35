// SPDX-License-Identifier: Apache-2.0

/** Stands for what is piped in, where a command takes a file. */
export const STANDARD_INPUT = '-';

// As much as a buffer of Node 20 can hold.
const MAX_BYTES = 4 * 2 ** 30;

/** All that is piped in, in memory only. */
export async function readStandardInput(): Promise<Uint8Array> {
  if (process.stdin.isTTY) throw new Error('Nothing is piped in: - stands for standard input.');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error('More than 4 GiB are piped in.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
