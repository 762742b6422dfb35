// SPDX-License-Identifier: Apache-2.0
import type { Logger } from '../../base/observe/log.js';
import { canOpen } from './descriptors.js';
import type { Listener } from './listener.js';

const CHECK_MS = 1000;
/** Free descriptors needed before the server accepts connections again. */
const WANTED_FREE = 8;

/**
 * Without a free descriptor, a waiting connection cannot be accepted, and the event loop would retry endlessly on a whole
 * core. So the server stops listening until some are free.
 * @returns ends the watch
 */
export function restWithoutDescriptors(
  listener: Listener,
  log: Logger,
  onRest: () => void,
  hasRoomFor: (count: number) => boolean = canOpen,
): () => void {
  let isResting = false;
  const timer = setInterval(() => {
    if (!isResting && !hasRoomFor(1)) {
      isResting = true;
      listener.stopListening();
      onRest();
      log.error('no free file descriptors: no new connections until there are some');
    } else if (isResting && hasRoomFor(WANTED_FREE) && listener.listenAgain()) {
      isResting = false;
      log.warn('file descriptors are free again: accepting connections');
    }
  }, CHECK_MS);
  return () => clearInterval(timer);
}
