// SPDX-License-Identifier: Apache-2.0
import type { Transaction } from '../database/database.js';

/** Which delivery is due next. All changes are part of the caller's transaction. */
export interface DeliveryQueue {
  /** @param delayS how long it must wait, at least; 0 is at once */
  add(transaction: Transaction, deliveryId: string, delayS: number): Promise<void>;
  /** Takes the next one that is due. @param except accounts whose deliveries stay */
  take(transaction: Transaction, except: readonly string[]): Promise<string | undefined>;
  /** Of one that was taken or waits. */
  remove(transaction: Transaction, deliveryId: string): Promise<void>;
}
