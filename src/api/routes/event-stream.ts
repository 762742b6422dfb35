// SPDX-License-Identifier: Apache-2.0
//
// Answers of server-sent events.
import type { Reply, ReplyTexts } from './route.js';

/** Proxies close connections that say nothing; most wait for a minute. */
export const HEARTBEAT_MS = 15_000;
/** After which a client comes again when its connection was cut. */
export const RECONNECT_MS = 2000;
export const SIGN_OF_LIFE = ': still here\n\n';

/** The answer with these events. */
export const eventStream = (texts: ReplyTexts): Reply => ({
  status: 200,
  contentType: 'text/event-stream',
  body: '',
  headers: [
    ['cache-control', 'no-store'],
    // nginx would collect them.
    ['x-accel-buffering', 'no'],
  ],
  texts,
});

/** Lets the sender of events wait for the next one. */
export class News {
  #wake = (): void => {};

  readonly tell = (): void => this.#wake();

  /** @param ms after which it ends without news */
  wait(ms = HEARTBEAT_MS): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
