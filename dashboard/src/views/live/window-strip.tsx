// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from 'preact/hooks';
import type { StreamEvent } from 'veravox-client';
import { clock } from '../../logic/clock.js';
import { resultWords } from '../../logic/conclusion.js';
import { mean } from '../../logic/mean.js';

/** Drawn at once: half an hour. The table has all of them. */
const MOST_SHOWN = 360;
const STEP = 18;
const HEIGHT = 120;

/** A bar per window, as high as its score, against the threshold. The newest is at the right, and in sight. */
export function WindowStrip({
  events,
  threshold,
}: {
  readonly events: readonly StreamEvent[];
  readonly threshold: number;
}) {
  const box = useRef<HTMLElement>(null);
  const shown = events.slice(-MOST_SHOWN);
  useEffect(() => {
    if (box.current !== null) box.current.scrollLeft = box.current.scrollWidth;
  }, [events.length]);
  if (shown.length === 0) return null;
  const width = shown.length * STEP;
  const y = (score: number): number => HEIGHT * (1 - score);
  return (
    <>
      <p class="soft">
        A bar per window, as high as its score, the newest at the right. From the dashed line on, the
        threshold, it looks AI-generated and is striped. Grey: no speech.
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <section class="window-strip" ref={box} tabIndex={0} aria-label="Scores of the windows, drawn">
        <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} aria-hidden="true">
          <defs>
            <pattern id="spoofed-stripes" width="5" height="5" patternUnits="userSpaceOnUse">
              <path d="M0 5 5 0" class="stripe" />
            </pattern>
          </defs>
          {shown.map((event, i) => {
            const key = event.event;
            const x = i * STEP + 1;
            if (event.type === 'skipped') {
              return (
                <rect key={key} class="skipped" x={x} y={HEIGHT - 4} width={STEP - 2} height={4}>
                  <title>{`${clock(event.start)} to ${clock(event.end)}: no speech`}</title>
                </rect>
              );
            }
            const top = Math.min(y(mean(event.scores)), HEIGHT - 2);
            const bar = { x, y: top, width: STEP - 2, height: HEIGHT - top };
            return (
              <g key={key}>
                <rect class={event.result} {...bar}>
                  <title>{`${clock(event.start)} to ${clock(event.end)}: ${resultWords[event.result]}`}</title>
                </rect>
                {event.result === 'spoofed' && <rect class="pattern" {...bar} fill="url(#spoofed-stripes)" />}
              </g>
            );
          })}
          <line class="threshold" x1={0} x2={width} y1={y(threshold)} y2={y(threshold)} />
        </svg>
      </section>
    </>
  );
}
