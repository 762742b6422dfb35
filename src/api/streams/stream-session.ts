// SPDX-License-Identifier: Apache-2.0
//
// This room serves live audio over WebSockets: messages, sessions, resumption and time limits. A session
// outlives its connection for a short time, so that a client can resume it.
import type { AudioWindow, ScoreAdjustment, ScoredWindow } from '../../analysis/analyser/analyser.js';
import type { LiveAnalyser, LiveAudio, LiveEvent } from '../../analysis/analyser/live.js';
import { findContrasts } from '../../analysis/stretches/contrasts.js';
import { foundBody } from '../../analysis/verdict/prediction.js';
import { stretchesOf } from '../../analysis/verdict/stretches.js';
import { RunningVerdict, rounded } from '../../analysis/verdict/verdict.js';
import { warningsOf } from '../../analysis/verdict/warnings.js';
import { MIN_DURATION_S } from '../../base/contract/limits.js';
import { newPredictionId } from '../../base/contract/prediction-id.js';
import type { ServerMessage } from '../../base/contract/stream.js';
import { OPUS_RATE_HZ, type StreamFields, TELEPHONE_RATE_HZ } from '../../base/contract/stream-fields.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { invalid } from './client-message.js';
import { KeptEvents } from './kept-events.js';
import { opusSamples } from './opus-duration.js';
import { PIECE_BYTES, type StreamMemory, WINDOW_BYTES } from './stream-memory.js';

/** Audio between two messages `received`. */
const RECEIPT_S = 1;
const SAMPLE_BYTES = { pcm16: 2, mulaw: 1, alaw: 1 } as const;

export interface SessionLimits {
  /** As far as `maxWaitingBytes` goes. */
  readonly maxWaitingS: number;
  readonly maxWaitingBytes: number;
  readonly maxDurationS: number;
}

/** With the threshold as a number. */
export type SessionFields = Omit<StreamFields, 'threshold'> & {
  readonly threshold: number;
  readonly adjustScore: ScoreAdjustment | undefined;
};

/** Times of a call, which has gaps, for those of the pushed audio, in seconds. */
export interface CallTimes {
  startOf(pushedS: number): number;
  endOf(pushedS: number): number;
}

/** The receiver of the session's messages; absent while nobody is connected. */
export interface SessionListener {
  /** In place of the times of the audio. */
  readonly times?: CallTimes;
  send(message: ServerMessage): void;
  /** The session is over; no further messages. */
  over(reason: ServiceError | undefined): void;
}

/** The session's figures for its record. */
export interface SessionFindings {
  readonly audioS: number;
  readonly receivedBytes: number;
  readonly scoredWindows: number;
  readonly skippedS: number;
  readonly stagesMs: { readonly decode?: number; readonly features?: number };
}

/** The end of a stream, for a client that may have missed it. */
export interface StreamEnding {
  readonly received: StreamSession['received'];
  readonly events: KeptEvents;
  /** Absent after a failure. */
  readonly result: ServerMessage | undefined;
  readonly reason: ServiceError | undefined;
}

/** One stream of audio, whatever the number of connections that it comes through. Knows nothing of sockets and time. */
export class StreamSession {
  readonly fields: SessionFields;
  readonly predictionId: string;
  readonly sampleRateHz: number;
  readonly maxWaitingS: number;
  readonly #limits: SessionLimits;
  readonly #memory: Pick<StreamMemory, 'keep'>;
  readonly #live: LiveAudio;
  readonly #verdict: RunningVerdict;
  /** For the stretches. */
  readonly #windows: ScoredWindow[] = [];
  readonly #onOver: (reason: ServiceError | undefined) => void;
  readonly #events = new KeptEvents();
  #listener: SessionListener | undefined;
  #samples = 0;
  #messages = 0;
  #bytes = 0;
  #receiptAtS = RECEIPT_S;
  #skippedS = 0;
  #stagesMs: SessionFindings['stagesMs'] = {};
  #result: ServerMessage | undefined;
  #isEnding = false;
  #isOver = false;

  /**
   * @param memory the caller's
   * @param onOver called once, with the reason of a failure; the session's memory is free then
   */
  constructor(
    analyser: LiveAnalyser,
    fields: SessionFields,
    owner: string,
    limits: SessionLimits,
    memory: Pick<StreamMemory, 'keep'>,
    onOver: (reason: ServiceError | undefined) => void,
  ) {
    this.fields = fields;
    this.#limits = limits;
    this.#memory = memory;
    this.#onOver = onOver;
    this.predictionId = fields.prediction_id ?? newPredictionId();
    this.#verdict = new RunningVerdict(fields.threshold);
    this.sampleRateHz = rateOf(fields);
    this.maxWaitingS = waitingSeconds(fields, this.sampleRateHz, limits);
    this.#live = analyser.openLive({
      format: {
        encoding: fields.encoding,
        sampleRateHz: this.sampleRateHz,
        channels: fields.channels,
        preSkip: fields.pre_skip,
      },
      model: fields.model,
      silenceThresholdPercent: fields.silence_threshold,
      adjustScore: fields.adjustScore,
      minDurationS: MIN_DURATION_S,
      maxDurationS: limits.maxDurationS,
      owner,
      onEvent: (event) => this.#take(event),
    });
  }

  get modelId(): string {
    return this.#live.modelId;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** No audio follows; the result does. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  get isListenedTo(): boolean {
    return this.#listener !== undefined;
  }

  get received(): { readonly samples: number; readonly messages: number } {
    return { samples: this.#samples, messages: this.#messages };
  }

  get findings(): SessionFindings {
    return {
      audioS: this.#samples / this.sampleRateHz,
      receivedBytes: this.#bytes,
      scoredWindows: this.#verdict.sums.windows,
      skippedS: this.#skippedS,
      stagesMs: this.#stagesMs,
    };
  }

  /** From now on messages go there. The listener before is told of STREAM_TAKEN_OVER. */
  listen(listener: SessionListener): void {
    const before = this.#listener;
    this.#listener = listener;
    before?.over(new ServiceError('STREAM_TAKEN_OVER'));
  }

  /** Sends events again that a returning client lacks. @throws ServiceError STREAM_MESSAGE_INVALID */
  repeat(eventsSeen: number): void {
    for (const message of this.#events.after(eventsSeen)) this.#listener?.send(message);
  }

  endingBy(reason: ServiceError | undefined): StreamEnding {
    return { received: this.received, events: this.#events, result: this.#result, reason };
  }

  /** No effect if another listener has taken its place. */
  leave(listener: SessionListener): void {
    if (this.#listener === listener) this.#listener = undefined;
  }

  /**
   * @param piece copied
   * @throws ServiceError STREAM_MESSAGE_INVALID, STREAM_TOO_FAST, STREAM_TOO_LONG, OVERLOADED
   */
  audio(piece: Uint8Array): void {
    if (this.#isEnding) throw invalid('audio after end');
    const samples = this.#samplesIn(piece);
    const durationS = samples / this.sampleRateHz;
    const { maxWaitingBytes, maxDurationS } = this.#limits;
    const waitingBytes = this.#live.waitingBytes + piece.length + PIECE_BYTES;
    if (this.#live.waitingS + durationS > this.maxWaitingS || waitingBytes > maxWaitingBytes)
      throw new ServiceError('STREAM_TOO_FAST', { seconds: this.maxWaitingS });
    this.#memory.keep(waitingBytes + this.#keptBytes);
    this.#samples += samples;
    this.#messages++;
    this.#bytes += piece.length;
    const receivedS = this.#samples / this.sampleRateHz;
    if (receivedS > maxDurationS) throw new ServiceError('STREAM_TOO_LONG', { seconds: maxDurationS });
    // The memory is the socket's.
    this.#live.push(piece.slice(), durationS);
    if (receivedS < this.#receiptAtS) return;
    this.#receiptAtS = receivedS + RECEIPT_S;
    this.#listener?.send({ type: 'received', ...this.received, waiting_s: rounded(this.#live.waitingS) });
  }

  /** Gives back the memory of audio that is analysed. Call it every second. */
  settle(): void {
    this.#keep();
  }

  /** The result follows. A client that comes back cannot know whether its end had arrived, and sends another one. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (this.#samples === 0)
      this.fail(new ServiceError('AUDIO_TOO_SHORT', { measuredS: 0, requiredS: MIN_DURATION_S }));
    else this.#live.finish();
  }

  fail(reason: ServiceError): void {
    this.#finish(reason);
  }

  #samplesIn(piece: Uint8Array): number {
    const { encoding } = this.fields;
    if (encoding === 'opus') {
      const samples = opusSamples(piece);
      if (samples === undefined) throw invalid('it is not an Opus packet');
      return samples;
    }
    const samples = piece.length / SAMPLE_BYTES[encoding];
    if (!Number.isInteger(samples)) throw invalid('it ends in the middle of a sample');
    return samples;
  }

  #take(event: LiveEvent): void {
    if (this.#isOver) return;
    switch (event.kind) {
      case 'window':
        this.#tellWindow(event.window);
        break;
      case 'skipped': {
        const { startS, endS, nonSpeechPercent } = this.#timed(event.window);
        this.#tell({
          type: 'skipped',
          event: this.#events.count,
          start: rounded(startS),
          end: rounded(endS),
          non_speech_percent: rounded(nonSpeechPercent),
        });
        break;
      }
      case 'end':
        this.#stagesMs = event.summary.timesMs;
        this.#tellResult(event);
        break;
      case 'failed':
        this.#finish(
          event.reason instanceof ServiceError
            ? event.reason
            : new ServiceError('INTERNAL', {}, { cause: event.reason }),
        );
    }
  }

  #tellWindow(window: ScoredWindow): void {
    this.#windows.push(window);
    const { startS, endS, scores, confidence, result } = this.#timed(this.#verdict.add(window));
    const { reason: _, ...global } = this.#verdict.finish({}, this.fields.silence_threshold);
    this.#tell({
      type: 'window',
      event: this.#events.count,
      start: startS,
      end: endS,
      scores,
      confidence,
      result,
      global: { ...global, windows: this.#verdict.sums.windows },
    });
  }

  #tellResult({ summary, skipped, ...look }: Extract<LiveEvent, { kind: 'end' }>): void {
    const { silence_threshold, model, profile, detail } = this.fields;
    this.#skippedS = skipped.reduce((sum, { startS, endS }) => sum + endS - startS, 0);
    try {
      const scored = { ...look, windows: this.#windows };
      const contrasts = findContrasts(scored);
      const global = this.#verdict.finish(summary, silence_threshold, contrasts.length > 0);
      this.#result = {
        type: 'result',
        events: this.#events.count,
        prediction_id: this.predictionId,
        global,
        model,
        ...(profile !== undefined && { profile }),
        audio_duration: rounded(summary.durationS),
        warnings: warningsOf(
          { ...summary, skipped: skipped.map((part) => this.#timed(part)) },
          silence_threshold,
        ),
        ...(detail && foundBody(stretchesOf(scored, global, contrasts).map((part) => this.#timed(part)))),
      };
      this.#listener?.send(this.#result);
      this.#finish(undefined);
    } catch (error) {
      this.#finish(error as ServiceError);
    }
  }

  #timed<Part extends AudioWindow>(part: Part): Part {
    const times = this.#listener?.times;
    return times ? { ...part, startS: times.startOf(part.startS), endS: times.endOf(part.endS) } : part;
  }

  #tell(message: ServerMessage): void {
    this.#events.add(message);
    this.#listener?.send(message);
    this.#keep();
  }

  get #keptBytes(): number {
    return this.#events.bytes + this.#windows.length * WINDOW_BYTES;
  }

  #keep(): void {
    if (this.#isOver) return;
    try {
      this.#memory.keep(this.#live.waitingBytes + this.#keptBytes);
    } catch (error) {
      this.#finish(error as ServiceError);
    }
  }

  #finish(reason: ServiceError | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const listener = this.#listener;
    this.#listener = undefined;
    void this.#live.close();
    listener?.over(reason);
    this.#onOver(reason);
  }
}

/** Opus takes a fraction of the bytes of PCM. */
function waitingSeconds(
  { encoding }: SessionFields,
  rateHz: number,
  { maxWaitingS, maxWaitingBytes }: SessionLimits,
): number {
  if (encoding === 'opus') return maxWaitingS;
  return Math.min(maxWaitingS, Math.floor(maxWaitingBytes / (rateHz * SAMPLE_BYTES[encoding])));
}

/** @throws ServiceError FIELD_INVALID */
function rateOf({ encoding, sample_rate, channels, pre_skip }: SessionFields): number {
  const refuse = (field: string, expected: string, received: unknown): never => {
    throw new ServiceError('FIELD_INVALID', { field, expected, received: String(received ?? 'none') });
  };
  if (encoding === 'opus') {
    if (sample_rate !== undefined && sample_rate !== OPUS_RATE_HZ)
      refuse('sample_rate', `${OPUS_RATE_HZ} for Opus`, sample_rate);
    return OPUS_RATE_HZ;
  }
  if (channels !== 1) refuse('channels', `1 for ${encoding}`, channels);
  if (pre_skip !== 0) refuse('pre_skip', `0 for ${encoding}`, pre_skip);
  if (encoding !== 'pcm16') return sample_rate ?? TELEPHONE_RATE_HZ;
  return sample_rate ?? refuse('sample_rate', 'a whole number from 8000 to 192000', sample_rate);
}
