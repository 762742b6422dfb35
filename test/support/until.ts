// SPDX-License-Identifier: Apache-2.0
import { waitUntil } from './wait-until.js';

/** Yields to the event loop, which serves both sides in tests with a server, until the condition holds. */
export async function until(isSo: () => boolean): Promise<void> {
  if (!(await waitUntil(isSo))) throw new Error(`Not within two minutes: ${isSo}`);
}
