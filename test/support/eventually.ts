// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { waitUntil } from './wait-until.js';

/** Asks until the answer is yes. */
export async function eventually(isDone: () => boolean | Promise<boolean>, what: string): Promise<void> {
  assert.ok(await waitUntil(isDone), `${what}, within two minutes`);
}
