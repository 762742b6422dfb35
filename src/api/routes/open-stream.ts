// SPDX-License-Identifier: Apache-2.0
import type { Analyser } from '../../analysis/analyser/analyser.js';
import type { LiveAnalyser } from '../../analysis/analyser/live.js';
import type { Config } from '../../base/config/options.js';
import type { StreamFields } from '../../base/contract/stream-fields.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { once } from '../../base/once.js';
import type { OperatingPoints } from '../../state/operating-points/operating-points.js';
import type { MemoryBudget } from '../admission/memory-budget.js';
import type { RequestPermits } from '../admission/request-permits.js';
import type { Holder } from '../admission/shared-budget.js';
import { StreamMemory } from '../streams/stream-memory.js';
import { type SessionFields, StreamSession } from '../streams/stream-session.js';
import {
  ClientAway,
  type OpenStream,
  type StreamPlace,
  type StreamSessions,
} from '../streams/stream-sessions.js';
import type { Notes } from '../upload/ignored-fields.js';
import type { FieldValidator } from './form-fields.js';
import { adjustmentFor } from './profile-field.js';
import type { Route } from './route.js';
import { thresholdOf } from './threshold.js';

/** Room for 48 kHz in pieces of 20 ms. */
const WAITING_BYTES_PER_S = 128 * 1024;

export interface OpenStreamParts {
  readonly config: Pick<Config, 'streamBufferS' | 'maxStreamDurationS'>;
  readonly analyser: Analyser & LiveAnalyser;
  readonly models: NonNullable<Route['models']>;
  readonly points: OperatingPoints;
  readonly sessions: StreamSessions;
  readonly permits: RequestPermits;
  readonly memory: MemoryBudget;
  readonly isStopping: () => boolean;
}

/** A client that asks for a stream. */
export interface StreamOpener {
  readonly keyId: string;
  readonly account: string;
  readonly holder: Holder;
  readonly notes: Notes;
  /** Whether another connection can go on with the stream. */
  readonly isResumable: boolean;
  /** Called once, when the stream is over. */
  onOver(session: StreamSession, reason: ServiceError | undefined): void;
}

/** @throws ServiceError for wrong parameters, and if there is no room for another stream */
export function openStream(
  parts: OpenStreamParts,
  validator: FieldValidator<StreamFields>,
  { keyId, account, holder, notes, isResumable, onOver }: StreamOpener,
  parameters: Record<string, unknown>,
): OpenStream {
  const { analyser, config, models, permits, memory, sessions } = parts;
  if (parts.isStopping()) throw new ServiceError('STOPPING');
  validator.note(notes, parameters);
  const given = validator.fromValues(parameters);
  const fields: SessionFields = {
    ...given,
    threshold: thresholdOf(given, parts),
    adjustScore: adjustmentFor(given, parts, account),
  };
  const { held, ...place } = takePlace(permits, memory, holder);
  const id = sessions.newId();
  const limits = {
    maxWaitingS: config.streamBufferS,
    maxWaitingBytes: config.streamBufferS * WAITING_BYTES_PER_S,
    maxDurationS: config.maxStreamDurationS,
  };
  let session: StreamSession;
  try {
    session = new StreamSession(analyser, fields, keyId, limits, held, (reason) => {
      sessions.end(id, isResumable && isFinal(reason) ? session.endingBy(reason) : undefined);
      models.leave();
      onOver(session, reason);
    });
  } catch (error) {
    place.release();
    throw error;
  }
  models.enter();
  return sessions.add(id, keyId, session, place);
}

/** Apart from the stream, which would otherwise live as long as the memory of its end. */
function takePlace(
  permits: RequestPermits,
  memory: MemoryBudget,
  holder: Holder,
): StreamPlace & { readonly held: StreamMemory } {
  const permit = permits.acquire(holder);
  const leave = once(() => permit.release());
  try {
    const held = new StreamMemory(memory, holder);
    return {
      held,
      keepOnly(bytes) {
        leave();
        held.keepOnly(bytes);
      },
      release() {
        held.release();
        leave();
      },
    };
  } catch (error) {
    leave();
    throw error;
  }
}

/** Clients try again after 503, and would do so in vain. */
const isFinal = (reason: ServiceError | undefined): boolean =>
  reason === undefined || !(reason instanceof ClientAway || reason.status === 503);
