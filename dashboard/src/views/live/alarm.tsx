// SPDX-License-Identifier: Apache-2.0
import { useLayoutEffect } from 'preact/hooks';
import type { StreamEvent } from 'veravox-client';
import { clock } from '../../logic/clock.js';
import { alarmsIn } from '../../logic/live.js';
import { mean } from '../../logic/mean.js';

interface AlarmProps {
  readonly events: readonly StreamEvent[];
  /** The time up to which the reader knows the alarms. */
  readonly seenS: number;
  onSeen(atS: number): void;
}

const MOST = 5;

/** Says loudly that a window looks AI-generated, until the reader has seen it, also in the title of the tab. */
export function Alarm({ events, seenS, onSeen }: AlarmProps) {
  const [newest, ...others] = alarmsIn(events, seenS);
  const isOn = newest !== undefined;
  useLayoutEffect(() => {
    if (!isOn) return;
    const title = document.title;
    document.title = `⚠ AI-generated voice · ${title}`;
    return () => {
      document.title = title;
    };
  }, [isOn]);
  if (newest === undefined) return null;
  const shown = [newest, ...others].slice(0, MOST);
  return (
    <section class="notice alarm" role="alert" aria-label="Alarm">
      <p class="global">
        <strong>This sounds AI-generated</strong> at{' '}
        {shown.map(({ start, end, scores }, i) => (
          <span key={start}>
            {i > 0 && ', '}
            {clock(start)} to {clock(end)} <span class="soft">(score {mean(scores).toFixed(3)})</span>
          </span>
        ))}
        {others.length >= MOST && ` and ${others.length + 1 - MOST} more`}
      </p>
      <button type="button" onClick={() => onSeen(newest.end)}>
        I have seen it
      </button>
    </section>
  );
}
