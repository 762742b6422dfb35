// SPDX-License-Identifier: Apache-2.0
import { pipeline, Readable, Transform } from 'node:stream';
import {
  type GetObjectCommand,
  type PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { Logger } from '../../base/observe/log.js';
import { CallClock, type CallTimeouts, orAborted, totalOnly } from '../../base/outgoing/call-clock.js';
import { lookUpOwn } from '../../base/outgoing/names.js';

/** Of answers other than objects. A full list, with each character of its names escaped, has less. */
const MAX_DOCUMENT_BYTES = 8 << 20;
/** Written at once, so that the clock sees how a body goes out. */
const PIECE_BYTES = 64 << 10;
const MAX_ATTEMPTS = 2;

type Handler = S3Client['config']['requestHandler'];
type Handled = Awaited<ReturnType<Handler['handle']>>;
type SdkRequest = Parameters<Handler['handle']>[0];

/** Options that the SDK hands to its handler. */
export interface CallOptions {
  readonly abortSignal: AbortSignal;
  /** Told of each piece of the answer that is not an object. An error from it ends the call. */
  readonly onBytes?: (bytes: number) => void;
}

/** The SDK retries errors of this name. */
const timedOut = (problem: string): Error =>
  Object.assign(new Error(`The storage ${problem}.`), { name: 'TimeoutError' });

/**
 * A client of the SDK whose calls end in time. The SDK's own limits only warn, on a stream of their own, and none of them is for a
 * body that has begun or for credentials that do not come.
 */
export class S3Calls {
  readonly client: S3Client;
  readonly #timeouts: CallTimeouts;

  constructor(config: S3ClientConfig, timeouts: CallTimeouts, log: Pick<Logger, 'warn'> | undefined) {
    const { stallTimeoutMs } = timeouts;
    const logger = { warn: (text: string) => log?.warn(text), debug() {}, info() {}, error() {} };
    const agent = { lookup: lookUpOwn };
    this.client = new S3Client({
      ...config,
      maxAttempts: MAX_ATTEMPTS,
      // For a request with this header the SDK makes an agent of its own, with Node's lookup.
      expectContinueHeader: false,
      requestHandler: { connectionTimeout: stallTimeoutMs, logger, httpAgent: agent, httpsAgent: agent },
    });
    this.#timeouts = timeouts;
    const handler = this.client.config.requestHandler;
    const handle = handler.handle.bind(handler);
    handler.handle = (request, options = {}) =>
      timed(handle, request, options, new CallClock(timeouts, timedOut, signalIn(options)));
  }

  /** Calls the SDK. @param call gets a signal, which also ends the SDK's other work */
  async within<Result>(
    call: (abortSignal: AbortSignal) => Promise<Result>,
    caller?: AbortSignal,
  ): Promise<Result> {
    const clock = new CallClock(totalOnly(MAX_ATTEMPTS * this.#timeouts.totalTimeoutMs), timedOut, caller);
    try {
      return await orAborted(clock.signal, call(clock.signal));
    } finally {
      clock.stop();
    }
  }

  /** A link. Only requests for credentials are sent. */
  sign(command: GetObjectCommand | PutObjectCommand, expiresIn: number, signingDate?: Date): Promise<string> {
    return this.within(() =>
      getSignedUrl(this.client, command, { expiresIn, ...(signingDate && { signingDate }) }),
    );
  }

  close(): void {
    this.client.destroy();
  }
}

const signalIn = ({ abortSignal }: { abortSignal?: unknown }): AbortSignal | undefined =>
  abortSignal instanceof AbortSignal ? abortSignal : undefined;

async function timed(
  handle: Handler['handle'],
  request: SdkRequest,
  options: NonNullable<Parameters<Handler['handle']>[1]>,
  clock: CallClock,
): Promise<Handled> {
  const { body, method } = request;
  // It joins the parts of an upload, for minutes if they are many.
  if (method === 'POST') clock.letWork();
  const sent = body instanceof Uint8Array ? { ...request, body: piecesOf(body, clock) } : request;
  try {
    const { response } = await handle(sent as SdkRequest, { ...options, abortSignal: clock.signal });
    clock.progress();
    const isObject = 'range' in request.headers && response.statusCode < 300;
    const { onBytes = () => {} } = options as Partial<CallOptions>;
    const received = isObject
      ? watched(response.body, clock, Number.POSITIVE_INFINITY, () => {})
      : watched(response.body, clock, MAX_DOCUMENT_BYTES, onBytes);
    return { response: Object.assign(response, { body: received }) };
  } catch (error) {
    clock.stop();
    throw clock.signal.aborted ? clock.signal.reason : error;
  }
}

function piecesOf(body: Uint8Array, clock: CallClock): Readable {
  let sent = 0;
  return new Readable({
    highWaterMark: PIECE_BYTES,
    read() {
      clock.progress();
      if (sent >= body.length) {
        clock.letWork();
        this.push(null);
        return;
      }
      this.push(body.subarray(sent, sent + PIECE_BYTES));
      sent += PIECE_BYTES;
    },
  });
}

/** The same body, which fails when it stalls or has too many bytes. The clock runs until its end. */
function watched(
  body: Readable,
  clock: CallClock,
  maxBytes: number,
  onBytes: (bytes: number) => void,
): Transform {
  let bytes = 0;
  const watch = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      clock.progress();
      bytes += chunk.length;
      try {
        if (bytes > maxBytes) throw new Error(`The storage answered more than ${maxBytes} bytes.`);
        onBytes(chunk.length);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
  });
  clock.signal.addEventListener('abort', () => watch.destroy(clock.signal.reason), { once: true });
  pipeline(body, watch, () => clock.stop());
  return watch;
}
