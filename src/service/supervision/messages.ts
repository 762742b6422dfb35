// SPDX-License-Identifier: Apache-2.0
import type { Span } from '../../console/health/slots.js';
import type { RateLimit } from '../../state/keys/api-key.js';

export type ReloadResult = 'loaded' | 'failed';

/** A question about one process: its metrics as JSON, or a `Stretch` of its history; no answer if it has none. */
export type Question = { readonly of: 'metrics' } | { readonly of: 'history'; readonly span: Span };

/** Messages of the supervisor to a process. */
export type ToProcess =
  | { readonly kind: 'stop' }
  /** Answered with `alive` by the event loop, which also answers requests. */
  | { readonly kind: 'ask-alive' }
  /** Whatever happens to the models, no process goes on with a certificate that runs out, or with secrets that have become known. */
  | { readonly kind: 'renew-secrets' }
  /** Answered with `reloaded`. */
  | { readonly kind: 'reload' }
  /** Inputs that ended a process before, by their SHA-256 in hexadecimal digits. */
  | { readonly kind: 'refuse'; readonly sha256: readonly string[] }
  /** Answered with `told`. */
  | { readonly kind: 'tell'; readonly id: number; readonly question: Question }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  /** Requests of a key in flight in the other processes. */
  | { readonly kind: 'in-flight-elsewhere'; readonly keyId: string; readonly inFlight: number };

/** Messages of a process to the supervisor. */
export type ToSupervisor =
  /** Orders arrive from now on. Earlier messages are lost: Node hands them to the cluster's own listener alone. */
  | { readonly kind: 'opened' }
  /** With a debugger listening, the process may be at a breakpoint. */
  | { readonly kind: 'alive'; readonly isDebugged: boolean }
  | { readonly kind: 'listening'; readonly isReady: boolean }
  | { readonly kind: 'reloaded'; readonly result: ReloadResult }
  | { readonly kind: 'told'; readonly id: number; readonly answer: unknown }
  /** Answered with `answer`: the metrics of all processes, as Prometheus reads them. */
  | { readonly kind: 'ask-metrics'; readonly id: number }
  /** Answered with `answer`: a list of the stretches of all processes. */
  | { readonly kind: 'ask-history'; readonly id: number; readonly span: Span }
  /** Answered with `answer`: a RateState. */
  | { readonly kind: 'count-rate'; readonly id: number; readonly keyId: string; readonly rate: RateLimit }
  | { readonly kind: 'in-flight'; readonly keyId: string; readonly inFlight: number };
