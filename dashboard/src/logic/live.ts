// SPDX-License-Identifier: Apache-2.0
//
// What is known of live audio, from the messages of a stream. Nothing here touches the page.
import type { StreamEvent, StreamReceived, StreamResult, StreamWindow } from '../../../client/src/index.js';
import { clock } from './clock.js';

/** `away`: the connection is lost, and is being made again. */
export type Connection = 'connected' | 'away';

export interface LiveFacts {
  /** Windows and skipped ones in order. */
  readonly events: readonly StreamEvent[];
  readonly soFar: StreamWindow['global'] | undefined;
  readonly result: StreamResult | undefined;
  readonly connection: Connection;
  readonly losses: number;
  /** Seconds that have arrived at the server. */
  readonly arrivedS: number;
  /** Seconds that wait there for their analysis. */
  readonly waitingS: number;
}

export const nothingYet: LiveFacts = {
  events: [],
  soFar: undefined,
  result: undefined,
  connection: 'connected',
  losses: 0,
  arrivedS: 0,
  waitingS: 0,
};

export const withEvent = (facts: LiveFacts, event: StreamEvent): LiveFacts => ({
  ...facts,
  events: [...facts.events, event],
  soFar: event.type === 'window' ? event.global : facts.soFar,
});

export const withReceived = (
  facts: LiveFacts,
  { samples, waiting_s }: StreamReceived,
  sampleRateHz: number,
): LiveFacts => ({ ...facts, arrivedS: samples / sampleRateHz, waitingS: waiting_s });

export const withConnection = (facts: LiveFacts, isConnected: boolean): LiveFacts => ({
  ...facts,
  connection: isConnected ? 'connected' : 'away',
  losses: facts.losses + (isConnected ? 0 : 1),
});

/** Said once per event, for people who do not see the page. */
export function announcementOf(event: StreamEvent): string {
  const span = `${clock(event.start)} to ${clock(event.end)}`;
  if (event.type === 'skipped') return `${span}: no speech.`;
  const { result, score } = event.global;
  return `${span}: ${event.result}. So far ${result}, score ${score.toFixed(2)}.`;
}

/** More than this is not kept for a network that is slower than speech. */
const MOST_UNSENT_S = 30;

export const isTooFarBehind = (capturedS: number, arrivedS: number): boolean =>
  capturedS - arrivedS > MOST_UNSENT_S;
