// SPDX-License-Identifier: Apache-2.0
import type { ArenaRegion } from '../../analysis/memory/arena.js';
import type { ByteSource } from '../../base/byte-source/byte-source.js';
import { isClientFault } from '../../base/errors/client-fault.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { type CallClock, orAborted } from '../../base/outgoing/call-clock.js';
import type { ObjectStorage } from '../../state/storage/object-storage.js';
import { ArenaIntake, type IntakeLimits } from '../upload/arena-intake.js';
import type { ArenaQueue } from '../upload/arena-queue.js';

const BLOCK_BYTES = 1 << 20;

/** The error of a link of the storage's own, as if it had been fetched. */
function asFetched(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error;
  const { status } = error;
  return isClientFault(status)
    ? new ServiceError('FETCH_STATUS_REFUSED', { status })
    : new ServiceError('FETCH_FAILED', { status }, { cause: error });
}

/**
 * Opens the object behind a link that the storage has made, under whichever name: no request goes out to come back in.
 * @returns undefined for a link that must be fetched
 * @throws ServiceError FETCH_STATUS_REFUSED, FETCH_FAILED
 */
export async function openStored(
  storage: Pick<ObjectStorage, 'nameBehind' | 'openSource'>,
  link: URL,
): Promise<ByteSource | undefined> {
  try {
    const name = await storage.nameBehind(link);
    return name === undefined ? undefined : await storage.openSource(name);
  } catch (error) {
    throw asFetched(error);
  }
}

/** Reads the whole object into the arena. The region is the caller's. Rejects as `download` does. */
export async function load(
  source: ByteSource,
  queue: ArenaQueue,
  limits: IntakeLimits,
  clock: CallClock,
): Promise<ArenaRegion> {
  const { bytes } = source;
  if (bytes === 0) throw new ServiceError('FILE_EMPTY', { field: 'presigned_url' });
  let goOn = (): void => {};
  let pause: Promise<void> | undefined;
  let region: ArenaRegion | undefined;
  let failure: unknown;
  const intake = new ArenaIntake(
    {
      declaredBytes: bytes,
      pause() {
        clock.hold();
        pause = new Promise((resolve) => {
          goOn = resolve;
        });
      },
      resume() {
        clock.start();
        goOn();
      },
    },
    queue,
    limits,
    {
      complete(filled) {
        region = filled;
      },
      failed(error) {
        failure = error;
        goOn();
      },
    },
  );
  try {
    for (let offset = 0; offset < bytes; ) {
      const block = new Uint8Array(Math.min(BLOCK_BYTES, bytes - offset));
      await source.read(block, offset, clock.signal).catch((error) => {
        clock.signal.throwIfAborted();
        throw asFetched(error);
      });
      offset += block.length;
      intake.take(block, offset === bytes);
      if (pause !== undefined) await orAborted(clock.signal, pause);
      pause = undefined;
      if (failure !== undefined) throw failure;
    }
    if (region === undefined) throw new Error('The intake has not ended. This is a bug.');
    return region;
  } catch (error) {
    intake.abandon();
    throw error;
  }
}
