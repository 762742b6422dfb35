// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';
import type { Permit } from './request-permits.js';

/** A body on its way in. */
export interface ReceivedBody {
  readonly permit: Pick<Permit, 'isContended'> | undefined;
  readonly receivedBytes: number;
  /** Time that it has been on its way, without the time in which it was not read; 0 if none is awaited. */
  readonly receivingMs: number;
  /** Reading it fails with this reason. */
  cutBody(reason: unknown): void;
}

type Progress = Pick<ReceivedBody, 'receivedBytes' | 'receivingMs'>;

/** Time before a body must have a pace, and the longest pause of one. */
const GRACE_MS = 2000;
/** The rate that is asked grows by this with each second: 1 % of a telephone line's after the grace, all of it later. */
const BYTES_PER_S2 = 400;
const MAX_BYTES_PER_S = 16 * 1024;

/** Bytes that a body must have brought after this time to keep a permit that others want. */
export function dueBytes(receivingMs: number): number {
  const seconds = receivingMs / 1000;
  return receivingMs < GRACE_MS ? 0 : seconds * Math.min(BYTES_PER_S2 * seconds, MAX_BYTES_PER_S);
}

/**
 * Cuts off bodies that come too slowly for the permits that they hold, while others want those. The rate that is asked
 * grows with the time that a permit has been held; with permits to spare nothing is asked beyond the time limits, so
 * that a slow line does.
 */
export class ReceivingPace {
  /** Of each body: its last progress, by the first look that saw it. */
  #before = new Map<ReceivedBody, Progress>();

  /** Call it every second or so with all bodies on their way. */
  look(bodies: Iterable<ReceivedBody>): void {
    const seen = new Map<ReceivedBody, Progress>();
    for (const body of bodies) {
      const { receivedBytes, receivingMs } = body;
      const before = this.#before.get(body);
      if (receivingMs === 0) {
        if (before !== undefined) seen.set(body, before);
        continue;
      }
      const last = before?.receivedBytes === receivedBytes ? before : { receivedBytes, receivingMs };
      seen.set(body, last);
      if (receivingMs < GRACE_MS) continue;
      const hasStopped = receivingMs - last.receivingMs >= GRACE_MS;
      if (!hasStopped && receivedBytes >= dueBytes(receivingMs)) continue;
      if (body.permit?.isContended()) {
        const seconds = Math.round(receivingMs / 1000);
        body.cutBody(new ServiceError('RECEIVE_TOO_SLOW', { receivedBytes, seconds }));
      }
    }
    this.#before = seen;
  }
}
