// SPDX-License-Identifier: Apache-2.0
//
// Voiceprints in the browser's own database. They never leave it but in requests.
import type { Voiceprint } from '../../logic/voiceprints.js';

const DATABASE = 'veravox';
const STORE = 'voiceprints';

export class BrowserStorageError extends Error {
  override readonly name = 'BrowserStorageError';
}

function settled<Value>(request: IDBRequest<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: 'id' });
  return settled(request);
}

/** Does something in one transaction, which is kept as a whole or not at all. */
async function within<Value>(
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => Promise<Value>,
): Promise<Value> {
  let database: IDBDatabase | undefined;
  try {
    database = await open();
    const transaction = database.transaction(STORE, mode);
    const ended = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error);
    });
    const [value] = await Promise.all([act(transaction.objectStore(STORE)), ended]);
    return value;
  } catch (error) {
    const why = error instanceof DOMException ? ` (${error.name})` : '';
    throw new BrowserStorageError(
      `The browser does not let this page store voiceprints${why}. Private windows and full disks are the usual reasons.`,
    );
  } finally {
    database?.close();
  }
}

/** By name. */
export async function keptVoiceprints(): Promise<Voiceprint[]> {
  const all = await within<Voiceprint[]>('readonly', (store) => settled(store.getAll()));
  return all.sort((a, b) => a.name.localeCompare(b.name) || a.created.localeCompare(b.created));
}

export const keep = (voiceprints: readonly Voiceprint[]): Promise<void> =>
  within('readwrite', async (store) => {
    await Promise.all(voiceprints.map((voiceprint) => settled(store.put(voiceprint))));
  });

export const forget = (id: string): Promise<void> =>
  within('readwrite', async (store) => settled(store.delete(id)));
