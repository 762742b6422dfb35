// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Stretch } from '../../logic/windows.js';
import type { TimelinePlace } from './timeline-place.js';

export interface Player {
  readonly isPlaying: boolean;
  /** Why nothing can be heard. */
  readonly problem: string | undefined;
  /** Plays a stretch and stops. */
  play(stretch: Stretch): void;
  stop(): void;
}

/** Plays stretches of a recording, and moves the place along. @param source address of the recording, such as of a blob */
export function usePlayer(source: string | undefined, place: TimelinePlace): Player {
  const audio = useRef<HTMLAudioElement | undefined>(undefined);
  const frame = useRef(0);
  const [isPlaying, setIsPlaying] = useState(false);
  const [problem, setProblem] = useState<string>();
  const stop = useCallback(() => {
    cancelAnimationFrame(frame.current);
    audio.current?.pause();
    setIsPlaying(false);
    place.play(undefined);
  }, [place]);
  useEffect(() => {
    setProblem(undefined);
    if (source !== undefined) {
      audio.current = new Audio(source);
      audio.current.preload = 'metadata';
    }
    return () => {
      stop();
      audio.current?.removeAttribute('src');
      audio.current = undefined;
    };
  }, [source, stop]);

  const play = ({ startS, endS }: Stretch): void => {
    const element = audio.current;
    if (element === undefined) return;
    cancelAnimationFrame(frame.current);
    const follow = (): void => {
      if (element.ended || element.currentTime >= endS) {
        stop();
        return;
      }
      place.play(element.currentTime);
      frame.current = requestAnimationFrame(follow);
    };
    element.currentTime = startS;
    setIsPlaying(true);
    element.play().then(
      () => {
        setProblem(undefined);
        follow();
      },
      (error: unknown) => {
        // Stopped before it began.
        if (error instanceof DOMException && error.name === 'AbortError') return;
        stop();
        setProblem('This browser cannot play the recording.');
      },
    );
  };
  return { isPlaying, problem, play, stop };
}
