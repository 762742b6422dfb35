// SPDX-License-Identifier: Apache-2.0
import { orAborted } from '../outgoing/call-clock.js';
import type { ByteSource } from './byte-source.js';

/** Rejects with the reason of the signal once it is aborted, however long the opening takes. */
export async function openedInTime<Source extends ByteSource | undefined>(
  signal: AbortSignal,
  opening: Promise<Source>,
): Promise<Source> {
  try {
    return await orAborted(signal, opening);
  } catch (error) {
    // A source that still opens has lost its reader.
    void opening.then((source) => source?.close()).catch(() => {});
    throw error;
  }
}
