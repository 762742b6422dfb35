// SPDX-License-Identifier: Apache-2.0
import type { RefObject } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { LiveStream, StreamFields, StreamOptions } from 'veravox-client';
import { useKept } from '../../kept.js';
import {
  isTooFarBehind,
  type LiveFacts,
  nothingYet,
  withConnection,
  withEvent,
  withReceived,
} from '../../logic/live.js';
import { levelOf } from '../../logic/pcm16.js';
import { detectorNamed, type ServerFacts } from '../../logic/server-facts.js';
import { type Reading, silent } from '../../parts/microphone/level-meter.js';
import { Microphone } from '../../parts/microphone/microphone.js';
import { useSession } from '../../session.js';

export type LiveFields = Pick<StreamFields, 'model' | 'threshold' | 'silence_threshold'>;

/** `ending`: the microphone is off, and the last verdicts are on their way. */
export type Phase = 'idle' | 'opening' | 'live' | 'ending';

export interface Live {
  readonly phase: Phase;
  readonly facts: LiveFacts;
  readonly about: AboutStream;
  /** Alarms until this time were seen. */
  readonly seenS: number;
  /** Why it ended before the reader wanted, in words. */
  readonly note: string;
  readonly error: unknown;
  readonly reading: RefObject<Reading>;
  see(atS: number): void;
  start(fields: LiveFields): Promise<void>;
  stop(): Promise<void>;
}

/** The subject of the verdicts. */
export interface AboutStream {
  readonly threshold: number;
  /** Exact id. */
  readonly modelId: string;
  /** Confidences below are `uncertain`; undefined if that is not known. */
  readonly uncertainBelow: number | undefined;
  readonly microphoneName: string;
  readonly startedAt: string;
}

const nothing: AboutStream = {
  threshold: 0.5,
  modelId: '',
  uncertainBelow: undefined,
  microphoneName: '',
  startedAt: '',
};

interface Running {
  readonly microphone: Microphone;
  readonly stream: LiveStream;
  isStopping: boolean;
}

const UNPLUGGED = 'The microphone was disconnected. The verdict covers the audio until then.';
const TOO_SLOW =
  'The connection is too slow for live audio, so the microphone is off. The verdict covers the audio until then.';

/** A microphone whose audio goes to a stream, and the stream's answers. Both end when the view is left; the verdicts stay. */
export function useLive(serverFacts: ServerFacts | undefined): Live {
  const session = useSession();
  const [phase, setPhase] = useState<Phase>('idle');
  const [facts, setFacts] = useKept('live.facts', nothingYet);
  const [about, setAbout] = useKept('live.about', nothing);
  const [seenS, see] = useKept('live.seen', 0);
  const [note, setNote] = useState('');
  const [error, setError] = useState<unknown>();
  const reading = useRef(silent);
  const running = useRef<Running | undefined>(undefined);
  const arrivedS = useRef(0);
  const leaving = useRef<AbortController | undefined>(undefined);

  const fail = useCallback((reason: unknown): void => {
    running.current?.microphone.close();
    running.current = undefined;
    if (leaving.current?.signal.aborted) return;
    // The rest of the stream also ends.
    leaving.current?.abort(reason);
    setError(reason);
    setPhase('idle');
  }, []);

  const stop = useCallback(
    async (why = ''): Promise<void> => {
      const now = running.current;
      if (now === undefined || now.isStopping) return;
      now.isStopping = true;
      setNote(why);
      setPhase('ending');
      try {
        await now.microphone.stop();
        const result = await now.stream.end();
        setFacts((known) => ({ ...known, result }));
        running.current = undefined;
        setPhase('idle');
      } catch (reason) {
        fail(reason);
      }
    },
    [fail],
  );

  const start = useCallback(
    async (fields: LiveFields): Promise<void> => {
      const leave = new AbortController();
      leaving.current = leave;
      setPhase('opening');
      setFacts(nothingYet);
      see(0);
      setNote('');
      setError(undefined);
      reading.current = silent;
      arrivedS.current = 0;
      let microphone: Microphone | undefined;
      try {
        microphone = await Microphone.open();
        const { sampleRateHz } = microphone;
        const options: StreamOptions = {
          ...fields,
          encoding: 'pcm16',
          sample_rate: sampleRateHz,
          detail: 'stretches',
          signal: leave.signal,
          onEvent: (event) => setFacts((known) => withEvent(known, event)),
          onConnection: (isConnected) => setFacts((known) => withConnection(known, isConnected)),
          onReceived: (received) => {
            arrivedS.current = received.samples / sampleRateHz;
            setFacts((known) => withReceived(known, received, sampleRateHz));
          },
        };
        // A server that restarts may refuse a ticket before it is gone. A stream ends with its key.
        const stream = await session.call((client) => client.stream(options), {
          maxRetries: 1,
          hasNewKey: true,
        });
        leave.signal.throwIfAborted();
        running.current = { microphone, stream, isStopping: false };
        const { model, threshold } = stream.ready;
        const detector = serverFacts && detectorNamed(serverFacts, model);
        setAbout({
          threshold,
          modelId: detector?.id ?? model,
          uncertainBelow: detector?.uncertainBelow,
          microphoneName: microphone.name,
          startedAt: new Date().toISOString(),
        });
        microphone.start(
          (piece) => {
            const capturedS = reading.current.capturedS + piece.length / sampleRateHz;
            reading.current = { capturedS, ...levelOf(piece) };
            stream.send(piece).catch((reason: unknown) => {
              // The rest of an earlier stream must not end this one.
              if (leaving.current === leave) fail(reason);
            });
            if (isTooFarBehind(capturedS, arrivedS.current)) void stop(TOO_SLOW);
          },
          () => void stop(UNPLUGGED),
        );
        setPhase('live');
      } catch (reason) {
        microphone?.close();
        fail(reason);
      }
    },
    [session, fail, stop, serverFacts],
  );

  useEffect(
    () => () => {
      leaving.current?.abort(new Error('The view was left.'));
      running.current?.microphone.close();
    },
    [],
  );

  return {
    phase,
    facts,
    about,
    seenS,
    see,
    note,
    error,
    reading,
    start,
    stop: useCallback(() => stop(), [stop]),
  };
}
