// SPDX-License-Identifier: Apache-2.0
//
// The known facts about live audio, from the messages of a stream. Nothing here touches the page.
import type { StreamEvent, StreamReceived, StreamResult, StreamWindow } from '../../../client/src/index.js';
import { clock } from './clock.js';
import { type Conclusion, conclusionOf, resultWords } from './conclusion.js';
import { mean } from './mean.js';
import { reasonOfAudio } from './verdict.js';
import type { Result } from './windows.js';

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
  return `${span}: ${resultWords[event.result]}. So far ${resultWords[result]}, score ${score.toFixed(2)}.`;
}

/** Long enough for a few windows, short enough to notice that another voice speaks now. */
const LATELY_S = 20;

export interface LiveVerdict {
  readonly score: number;
  readonly confidence: number;
  readonly result: Result;
  /** Undefined if nobody can tell. */
  readonly reason: string | null | undefined;
  readonly conclusion: Conclusion;
}

const windowsIn = (events: readonly StreamEvent[]): StreamWindow[] =>
  events.filter((event) => event.type === 'window');

const judgedOf = ({ start, end, scores, result }: StreamWindow) => ({
  ...{ startS: start, endS: end, result },
  score: mean(scores),
});

/**
 * The verdict on everything so far. Before its end a stream tells no reason; that windows contradict each other, or that the
 * verdict is uncertain, follows from its events.
 * @param uncertainBelow the confidence of an uncertain verdict; undefined if it is not known
 * @param isOver whether no more messages come
 */
export function verdictSoFar(
  facts: LiveFacts,
  uncertainBelow: number | undefined,
  isOver: boolean,
): LiveVerdict | undefined {
  const { events, soFar, result } = facts;
  const global = result?.global ?? soFar;
  if (global === undefined) return undefined;
  const reason =
    result === undefined ? reasonOf(global.confidence, uncertainBelow, facts, isOver) : result.global.reason;
  const { score, confidence, result: own } = global;
  const windows = windowsIn(events).map(judgedOf);
  return {
    score,
    confidence,
    result: own,
    reason,
    conclusion: conclusionOf({ result: own, reason, windows, stretches: result?.stretches }),
  };
}

/** The same for the last windows only; undefined if none of them had enough speech. */
export function verdictLately(
  facts: LiveFacts,
  threshold: number,
  uncertainBelow: number | undefined,
  isOver: boolean,
): (LiveVerdict & { readonly startS: number; readonly endS: number }) | undefined {
  const { events } = facts;
  const endS = events.at(-1)?.end ?? 0;
  const recent = windowsIn(events).filter(({ end }) => end > endS - LATELY_S + 0.5);
  const [first] = recent;
  if (first === undefined) return undefined;
  const windows = recent.map(judgedOf);
  const score = mean(windows.map((window) => window.score));
  const confidence = mean(recent.map((window) => window.confidence));
  const result = score >= threshold ? 'spoofed' : 'bonafide';
  const reason = reasonOf(confidence, uncertainBelow, facts, isOver);
  const stretches = facts.result?.stretches?.filter(({ end }) => end > first.start);
  const conclusion = conclusionOf({ result, reason, windows, stretches });
  return { score, confidence, result, reason, conclusion, startS: first.start, endS };
}

/** Of a verdict that is not the result's own. */
function reasonOf(
  confidence: number,
  uncertainBelow: number | undefined,
  { result }: LiveFacts,
  isOver: boolean,
): string | null | undefined {
  if (uncertainBelow !== undefined && confidence < uncertainBelow) return 'uncertain';
  if (result !== undefined) return reasonOfAudio(result.global.reason);
  return isOver ? undefined : null;
}

/**
 * The windows that look AI-generated, the newest first. The last window of a stream begins before the end of the one before it.
 * @param seenS the time up to which the reader knows them
 */
export const alarmsIn = (events: readonly StreamEvent[], seenS: number): StreamWindow[] =>
  windowsIn(events)
    .filter(({ result, end }) => result === 'spoofed' && end > seenS)
    .toReversed();

/** More than this is not kept for a network that is slower than speech. */
const MOST_UNSENT_S = 30;

export const isTooFarBehind = (capturedS: number, arrivedS: number): boolean =>
  capturedS - arrivedS > MOST_UNSENT_S;
