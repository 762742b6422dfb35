// SPDX-License-Identifier: Apache-2.0
//
// Special parts of analysing files without a server.
import { open, stat } from 'node:fs/promises';
import { loadConfig } from '../../base/config/load-config.js';
import type { Config } from '../../base/config/options.js';

// The server's limits protect it from its clients; here the caller can wait as long as they like.
export const maxDurationS = 7 * 86_400;
const noTimeoutMs = 2 ** 31 - 1;

/**
 * The settings of the environment without time limits, and with those given.
 * @throws the errors of loadConfig
 */
export function localConfig({
  modelsDir,
  device,
}: Partial<Pick<Config, 'modelsDir' | 'device'>> = {}): Config {
  return {
    ...loadConfig(process.env),
    queueTimeoutMs: noTimeoutMs,
    analysisTimeoutMs: noTimeoutMs,
    ...(modelsDir !== undefined && { modelsDir }),
    ...(device !== undefined && { device }),
  };
}

/** Size in bytes, or why it is unknown: one unreadable file does not keep the others from being analysed. */
export async function sizeOf(file: string): Promise<number | Error> {
  try {
    const status = await stat(file);
    return status.isFile() ? status.size : new Error('This is not a file.');
  } catch (error) {
    return error as Error;
  }
}

/** Returns how many bytes there were; rejects if there are more than `target` has room for. */
export async function readInto(target: Uint8Array, file: string): Promise<number> {
  const handle = await open(file);
  try {
    let length = 0;
    for (;;) {
      const isFull = length === target.length;
      const { bytesRead } = await handle.read(isFull ? new Uint8Array(1) : target.subarray(length));
      if (bytesRead === 0) return length;
      if (isFull) throw new Error('The file grew while it was being read.');
      length += bytesRead;
    }
  } finally {
    await handle.close();
  }
}
