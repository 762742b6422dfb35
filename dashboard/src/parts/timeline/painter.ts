// SPDX-License-Identifier: Apache-2.0
import { type Colours, themeColours } from './colours.js';
import { drawTimeline, heightOf, type Seen, type TimelineFacts } from './drawing.js';

/** Beyond this, more pixels cost time and show nothing. */
const MAX_PIXEL_RATIO = 2;
/** Canvases this near to what is seen are drawn. */
const NEAR = '1000px';

/** Keeps a canvas up to date: at most one drawing per frame, and none far from what is seen, where thousands would take gigabytes. */
export class Painter {
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D | null;
  readonly #resizing: ResizeObserver;
  readonly #seeing: IntersectionObserver;
  #isNear = false;
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
    this.#seeing = new IntersectionObserver(
      (entries) => {
        this.#isNear = entries.at(-1)?.isIntersecting ?? false;
        this.#resize();
      },
      { rootMargin: NEAR },
    );
    this.#seeing.observe(canvas);
  }

  /** @param seen asked before each drawing */
  show(facts: TimelineFacts, seen: () => Seen): void {
    const before = this.#facts && heightOf(this.#facts);
    this.#facts = facts;
    this.#seen = seen;
    if (before === heightOf(facts)) this.refresh();
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
    this.#seeing.disconnect();
  }

  #resize(): void {
    const ratio = Math.min(MAX_PIXEL_RATIO, devicePixelRatio);
    const height = heightOf(this.#facts ?? { hasWave: false });
    this.#canvas.style.height = `${height}px`;
    this.#width = this.#isNear ? this.#canvas.clientWidth : 0;
    this.#canvas.width = Math.round(this.#width * ratio);
    this.#canvas.height = this.#isNear ? Math.round(height * ratio) : 0;
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
