// SPDX-License-Identifier: Apache-2.0
import type { ServiceError } from '../../base/errors/service-error.js';
import { CLIENT_GONE_STATUS, type RequestRecord } from '../../base/observe/request-record.js';
import type { StreamSession } from '../streams/stream-session.js';
import { ClientAway } from '../streams/stream-sessions.js';
import type { Caller, RouteRequest } from './route.js';

/** Records the stream of a connection as one request of its key to the route `stream`, with all of its audio. */
export class StreamRecord {
  readonly #common: Pick<RequestRecord, 'correlationId' | 'clientAddress' | 'trace' | 'keyId' | 'account'>;
  readonly #record: (record: RequestRecord) => void;
  readonly #beganMs = performance.now();

  /** Keeps nothing else of the request, whose memory a stream would hold for hours. */
  constructor(
    { clientAddress, record: { correlationId, trace } }: Pick<RouteRequest, 'clientAddress' | 'record'>,
    { keyId, account }: Caller,
    record: (record: RequestRecord) => void,
  ) {
    this.#common = { correlationId, clientAddress, keyId, account, ...(trace && { trace }) };
    this.#record = record;
  }

  readonly ended = (session: StreamSession, reason: ServiceError | undefined): void => {
    const { receivedBytes, ...findings } = session.findings;
    this.#tell(reason, {
      ...findings,
      bodyBytes: receivedBytes,
      model: session.fields.model,
      modelIds: [session.modelId],
    });
  };

  endedWithoutStream(reason: ServiceError | undefined): void {
    this.#tell(reason ?? new ClientAway('STREAM_UNKNOWN'), { stagesMs: {} });
  }

  #tell(
    reason: ServiceError | undefined,
    findings: Partial<RequestRecord> & Pick<RequestRecord, 'stagesMs'>,
  ): void {
    this.#record({
      ...this.#common,
      method: 'STREAM',
      route: 'stream',
      ...outcomeOf(reason),
      totalMs: performance.now() - this.#beganMs,
      ...findings,
    });
  }
}

function outcomeOf(reason: ServiceError | undefined): Pick<RequestRecord, 'status' | 'errorKey' | 'cause'> {
  if (reason === undefined) return { status: 200 };
  if (reason instanceof ClientAway) return { status: CLIENT_GONE_STATUS };
  const { status, key, cause } = reason;
  return { status, errorKey: key, ...(cause !== undefined && { cause }) };
}
