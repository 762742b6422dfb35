// SPDX-License-Identifier: Apache-2.0
import { type Colours, themeColours } from './colours.js';
import { drawTimeline, heightOf, type Seen, type TimelineFacts } from './drawing.js';

/** Beyond this, more pixels cost time and show nothing. */
const MAX_PIXEL_RATIO = 2;

/** Keeps a canvas up to date: at most one drawing per frame. */
export class Painter {
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D | null;
  readonly #resizing: ResizeObserver;
  #colours: Colours = themeColours();
  #facts: TimelineFacts | undefined;
  #seen: (() => Seen) | undefined;
  #frame = 0;
  #width = 0;

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
    // Without transparency the browser need not blend it with the page.
    this.#context = canvas.getContext('2d', { alpha: false });
    this.#resizing = new ResizeObserver(() => this.#resize());
    this.#resizing.observe(canvas);
  }

  /** @param seen asked before each drawing */
  show(facts: TimelineFacts, seen: () => Seen): void {
    const hadWave = this.#facts?.hasWave;
    this.#facts = facts;
    this.#seen = seen;
    if (hadWave === facts.hasWave) this.refresh();
    else this.#resize();
  }

  /** Call it when the theme has changed. */
  readColours(): void {
    this.#colours = themeColours();
    this.refresh();
  }

  refresh(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#paint());
  }

  close(): void {
    cancelAnimationFrame(this.#frame);
    this.#resizing.disconnect();
  }

  #resize(): void {
    const ratio = Math.min(MAX_PIXEL_RATIO, devicePixelRatio);
    const height = heightOf(this.#facts ?? { hasWave: false });
    this.#canvas.style.height = `${height}px`;
    this.#width = this.#canvas.clientWidth;
    this.#canvas.width = Math.round(this.#width * ratio);
    this.#canvas.height = Math.round(height * ratio);
    this.#context?.setTransform(ratio, 0, 0, ratio, 0, 0);
    // The size has emptied it: nobody should see that.
    this.#paint();
  }

  #paint(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (this.#context === null || this.#facts === undefined || this.#seen === undefined || this.#width === 0)
      return;
    drawTimeline(this.#context, this.#width, this.#facts, this.#seen(), this.#colours);
  }
}
