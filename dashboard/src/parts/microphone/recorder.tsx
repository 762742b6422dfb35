// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from 'preact/hooks';
import { levelOf } from '../../logic/pcm16.js';
import { wavOf } from '../../logic/wav-writer.js';
import { Problem } from '../problem.js';
import { LevelMeter, silent } from './level-meter.js';
import { Microphone, type Piece } from './microphone.js';

/** Longer ones would be refused for their size. */
const LONGEST_S = 120;

interface RecorderProps {
  /** The text of the button, such as `Record a sample`. */
  readonly label: string;
  readonly isDisabled: boolean;
  /** @param name without an ending */
  onRecorded(file: File): void;
}

/** Records from the microphone into a WAV file. */
export function Recorder({ label, isDisabled, onRecorded }: RecorderProps) {
  const [phase, setPhase] = useState<'idle' | 'opening' | 'recording'>('idle');
  const [error, setError] = useState<unknown>();
  const reading = useRef(silent);
  const current = useRef<{ readonly microphone: Microphone; readonly pieces: Piece[] } | undefined>(
    undefined,
  );
  const isGone = useRef(false);
  useEffect(
    () => () => {
      isGone.current = true;
      current.current?.microphone.close();
    },
    [],
  );

  const stop = async (): Promise<void> => {
    const recording = current.current;
    if (recording === undefined) return;
    current.current = undefined;
    await recording.microphone.stop();
    if (isGone.current) return;
    setPhase('idle');
    const time = new Date().toLocaleTimeString().replaceAll(/[^\p{L}\p{N}]+/gu, '-');
    const parts = wavOf(recording.pieces, recording.microphone.sampleRateHz);
    onRecorded(new File(parts, `recorded-${time}.wav`, { type: 'audio/wav' }));
  };

  const start = async (): Promise<void> => {
    setError(undefined);
    setPhase('opening');
    reading.current = silent;
    try {
      const microphone = await Microphone.open();
      if (isGone.current) return microphone.close();
      const pieces: Piece[] = [];
      current.current = { microphone, pieces };
      microphone.start(
        (piece) => {
          pieces.push(piece);
          const capturedS = reading.current.capturedS + piece.length / microphone.sampleRateHz;
          reading.current = { capturedS, ...levelOf(piece) };
          if (capturedS >= LONGEST_S) void stop();
        },
        () => void stop(),
      );
      setPhase('recording');
    } catch (reason) {
      current.current?.microphone.close();
      current.current = undefined;
      setPhase('idle');
      setError(reason);
    }
  };

  return (
    <div>
      {phase === 'recording' ? (
        <button type="button" class="danger" onClick={stop}>
          Stop recording
        </button>
      ) : (
        <button type="button" disabled={isDisabled || phase === 'opening'} onClick={start}>
          {label}
        </button>
      )}
      {phase === 'recording' && <LevelMeter reading={reading} />}
      {error !== undefined && <Problem error={error} />}
    </div>
  );
}
