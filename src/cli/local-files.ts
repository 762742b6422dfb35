// SPDX-License-Identifier: Apache-2.0
//
// What the commands that analyse files without a server have in common.
import { randomUUID } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { errorBody } from '../errors/error-body.js';
import { ServiceError } from '../errors/service-error.js';

// The server's limits protect it from its clients; here the caller can wait as long as they like.
export const maxDurationS = 7 * 86_400;
const noTimeoutMs = 2 ** 31 - 1;
export const withoutTimeouts = { queueTimeoutMs: noTimeoutMs, analysisTimeoutMs: noTimeoutMs } as const;

/** Says why a file was not analysed; with `json` also as the server would, to keep one line per file. */
export function reportFailure(file: string, error: unknown, json: true | undefined): void {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${file}: ${message}\n`);
  if (!json) return;
  const correlationId = randomUUID();
  const body =
    error instanceof ServiceError
      ? errorBody(error, correlationId)
      : { error: 'validation_error', message, status: 400, correlation_id: correlationId };
  process.stdout.write(`${JSON.stringify({ file, ...body })}\n`);
}

/** Size in bytes, or why there is none: one unreadable file does not keep the others from being analysed. */
export async function sizeOf(file: string): Promise<number | Error> {
  try {
    const status = await stat(file);
    return status.isFile() ? status.size : new Error('This is not a file.');
  } catch (error) {
    return error as Error;
  }
}

/** Returns how many bytes there were; rejects where there are more than `target` has room for. */
export async function readInto(target: Uint8Array, file: string): Promise<number> {
  const handle = await open(file);
  try {
    let length = 0;
    for (;;) {
      const isFull = length === target.length;
      const { bytesRead } = await handle.read(isFull ? new Uint8Array(1) : target.subarray(length));
      if (bytesRead === 0) return length;
      if (isFull) throw new Error('The file has grown since its size was asked for.');
      length += bytesRead;
    }
  } finally {
    await handle.close();
  }
}
