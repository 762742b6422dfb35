// SPDX-License-Identifier: Apache-2.0
import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { clock } from '../../logic/clock.js';
import type { Level } from '../../logic/pcm16.js';

export interface Reading extends Level {
  /** Seconds of audio since the start. */
  readonly capturedS: number;
}

/** Before the first piece. */
export const silent: Reading = { capturedS: 0, dbfs: -Infinity, isClipped: false };

/** Quieter than this nobody speaks. */
const LOWEST_DBFS = -60;
const REDRAW_MS = 100;
/** A hint about the level needs this much audio to rest on. */
const HINT_AFTER_S = 3;
/** While a hint about clipping stays. */
const CLIPPED_FOR_MS = 3000;

/** Duration and level, while a microphone is on. @param reading renewed with each piece of audio */
export function LevelMeter({ reading }: { readonly reading: RefObject<Reading> }) {
  const [shown, setShown] = useState(reading.current);
  const [loudest, setLoudest] = useState(-Infinity);
  const [clippedAtMs, setClippedAtMs] = useState(-Infinity);
  useEffect(() => {
    const timer = setInterval(() => {
      setShown(reading.current);
      setLoudest((before) => Math.max(before - 0.05, reading.current.dbfs));
      if (reading.current.isClipped) setClippedAtMs(performance.now());
    }, REDRAW_MS);
    return () => clearInterval(timer);
  }, [reading]);
  const { capturedS, dbfs } = shown;
  const level = Math.max(LOWEST_DBFS, Math.min(0, dbfs));
  const isQuiet = capturedS > HINT_AFTER_S && loudest < LOWEST_DBFS;
  const isClipped = performance.now() - clippedAtMs < CLIPPED_FOR_MS;
  return (
    <div class="level-meter">
      <span class="clock" role="timer" aria-label="Recorded">
        {clock(Math.floor(capturedS))}
      </span>
      <meter
        class="visually-hidden"
        aria-label="Level of the microphone"
        min={LOWEST_DBFS}
        max={0}
        value={level}
        aria-valuetext={`${Math.round(-level)} decibels below full scale`}
      />
      {/* Browsers draw meters each in their way, and Chromium's is half empty at any height but its own. */}
      <div class="bar" aria-hidden="true">
        <div style={{ width: `${100 * (1 - level / LOWEST_DBFS)}%` }} />
      </div>
      <span class="soft" aria-live="polite">
        {isQuiet
          ? 'No sound. Is the microphone muted?'
          : isClipped
            ? 'Too loud: move away or turn the microphone down.'
            : ''}
      </span>
    </div>
  );
}
