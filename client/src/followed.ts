// SPDX-License-Identifier: Apache-2.0
import { errorOf, VeravoxError } from './error.js';
import { eventsIn, isEventStream } from './server-events.js';
import { type Call, type CallOptions, pause, type Transport } from './transport.js';

export interface FollowOptions extends CallOptions {
  /** After which a connection counts as dead; default: 40,000. The server says every 15 s that it is there. */
  readonly silenceMs?: number | undefined;
}

const never = new AbortController().signal;
const SILENCE_MS = 40_000;
/** Before a connection that was cut is opened again. */
const RECONNECT_MS = 1000;

/**
 * The data of server-sent events, without repetitions, until the caller has enough. A connection that ends is opened again; one
 * that breaks, or brings nothing for `silenceMs`, at most `maxRetries` times in a row.
 */
export async function* followed(
  transport: Transport,
  call: () => Call,
  { silenceMs = SILENCE_MS, maxRetries, ...options }: FollowOptions & { readonly maxRetries: number },
): AsyncGenerator<string, never, void> {
  const { signal = never } = options;
  let latest = '';
  for (let failures = 0; ; ) {
    try {
      const answer = await transport.send(call(), { ...options, maxRetries });
      if (!isEventStream(answer)) throw await errorOf(answer, 'unexpected_answer');
      for await (const data of eventsIn(answer, silenceMs)) {
        failures = 0;
        if (data === latest) continue;
        latest = data;
        yield data;
      }
    } catch (error) {
      if (error instanceof VeravoxError || signal.aborted) throw error;
      if (failures++ >= maxRetries) throw error;
    }
    await pause(RECONNECT_MS, signal);
  }
}
