// SPDX-License-Identifier: Apache-2.0
import { LEFT, plotWidth } from './drawing.js';
import type { TimelinePlace } from './timeline-place.js';

/** Below this a press is a click and no drag. */
const CLICK_PX = 4;
/** Zoom per pixel of a wheel; one notch has about 100. */
const WHEEL_STEP = 0.002;
/** A line of a wheel that counts in lines. */
const LINE_PX = 16;
const LONGEST_WHEEL_PX = 200;

/**
 * Wheel, drag and pinch move a place. The wheel scrolls the page unless the canvas has the focus, Ctrl is held or it turns
 * sideways.
 * @param onPick called with the time of a click
 * @returns a function that ends it
 */
export function followPointer(
  canvas: HTMLCanvasElement,
  place: TimelinePlace,
  onPick: (timeS: number) => void,
): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  const down = new Map<number, { x: number; y: number }>();
  let travelledPx = 0;

  const timeAt = (clientX: number): number => {
    const { left } = canvas.getBoundingClientRect();
    const { startS, endS } = place.span;
    const share = (clientX - left - LEFT) / plotWidth(canvas.clientWidth);
    return startS + Math.min(1, Math.max(0, share)) * (endS - startS);
  };
  const spreadOf = (): { middle: number; px: number } => {
    const [a, b] = [...down.values()];
    return a === undefined || b === undefined
      ? { middle: a?.x ?? 0, px: 0 }
      : { middle: (a.x + b.x) / 2, px: Math.hypot(a.x - b.x, a.y - b.y) };
  };

  canvas.addEventListener(
    'wheel',
    (event) => {
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1;
      const [deltaX, deltaY] = [event.deltaX * unit, event.deltaY * unit];
      const isSideways = event.shiftKey || Math.abs(deltaX) > Math.abs(deltaY);
      if (isSideways) place.pan((deltaX === 0 ? deltaY : deltaX) / plotWidth(canvas.clientWidth));
      else if (event.ctrlKey || event.metaKey || document.activeElement === canvas) {
        const px = Math.max(-LONGEST_WHEEL_PX, Math.min(LONGEST_WHEEL_PX, deltaY));
        // A pinch on a touchpad comes as a wheel with Ctrl, and in small steps.
        place.zoom(Math.exp(-px * WHEEL_STEP * (event.ctrlKey ? 3 : 1)), timeAt(event.clientX));
      } else return;
      event.preventDefault();
    },
    { signal, passive: false },
  );
  canvas.addEventListener(
    'pointerdown',
    (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      if (down.size === 0) travelledPx = 0;
      down.set(event.pointerId, { x: event.clientX, y: event.clientY });
    },
    { signal },
  );
  canvas.addEventListener(
    'pointermove',
    (event) => {
      if (!down.has(event.pointerId)) return;
      const before = spreadOf();
      down.set(event.pointerId, { x: event.clientX, y: event.clientY });
      const after = spreadOf();
      travelledPx += Math.abs(after.middle - before.middle) + Math.abs(after.px - before.px);
      if (travelledPx < CLICK_PX) return;
      place.pan((before.middle - after.middle) / plotWidth(canvas.clientWidth));
      if (before.px > 0 && after.px > 0) place.zoom(after.px / before.px, timeAt(after.middle));
    },
    { signal },
  );
  canvas.addEventListener(
    'pointerup',
    (event) => {
      if (down.delete(event.pointerId) && down.size === 0 && travelledPx < CLICK_PX)
        onPick(timeAt(event.clientX));
    },
    { signal },
  );
  canvas.addEventListener('pointercancel', ({ pointerId }) => down.delete(pointerId), { signal });
  return () => ending.abort();
}
