// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { Scale } from '../../logic/rate-scale.js';

export const WIDTH = 460;
const HEIGHT = 400;
const LEFT = 64;
const TOP = 56;
const RIGHT = WIDTH - 16;
const BOTTOM = HEIGHT - 52;

const LEGEND_WIDTH = (RIGHT - LEFT) / 2;

export interface Axis {
  readonly title: string;
  readonly scale: Scale;
}

/** From values to pixels. */
export interface Places {
  x(value: number): number;
  y(value: number): number;
}

interface PlotProps {
  readonly title: string;
  /** Names of the two classes below the title. */
  readonly legend?: Readonly<Record<'negative' | 'positive', string>>;
  /** The plot in words, for readers who do not see it. */
  readonly description: string;
  readonly across: Axis;
  readonly up: Axis;
  children(places: Places): ComponentChildren;
}

/** A drawing between two axes, in the colours of the page. All of it is SVG: `veravox evaluate --svg` writes it to a file. */
export function Plot({ title, legend, description, across, up, children }: PlotProps) {
  const clipId = useId();
  const x = (value: number): number => LEFT + across.scale.place(value) * (RIGHT - LEFT);
  const y = (value: number): number => BOTTOM - up.scale.place(value) * (BOTTOM - TOP);
  return (
    <figure class="figure-plot">
      <svg
        xmlns="http://www.w3.org/2000/svg"
        class="drawing"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        width={WIDTH}
        height={HEIGHT}
        role="img"
        aria-label={`${title}. ${description}`}
      >
        <rect class="paper" width={WIDTH} height={HEIGHT} />
        <text class="title" x={LEFT} y={20}>
          {title}
        </text>
        {legend !== undefined &&
          (['negative', 'positive'] as const).map((kind, i) => (
            <g key={kind}>
              <rect class={kind} x={LEFT + i * LEGEND_WIDTH} y={32} width={18} height={11} />
              <text x={LEFT + i * LEGEND_WIDTH + 24} y={42}>
                {legend[kind]}
              </text>
            </g>
          ))}
        {across.scale.ticks.map(({ value, text }) => (
          <g key={value}>
            <line class="grid" x1={x(value)} x2={x(value)} y1={TOP} y2={BOTTOM} />
            <text class="soft" x={x(value)} y={BOTTOM + 17} text-anchor="middle">
              {text}
            </text>
          </g>
        ))}
        {up.scale.ticks.map(({ value, text }) => (
          <g key={value}>
            <line class="grid" x1={LEFT} x2={RIGHT} y1={y(value)} y2={y(value)} />
            <text class="soft" x={LEFT - 6} y={y(value) + 4} text-anchor="end">
              {text}
            </text>
          </g>
        ))}
        <clipPath id={clipId}>
          <rect x={LEFT - 1} y={TOP - 1} width={RIGHT - LEFT + 2} height={BOTTOM - TOP + 2} />
        </clipPath>
        <g clip-path={`url(#${clipId})`}>{children({ x, y })}</g>
        <rect class="frame" x={LEFT} y={TOP} width={RIGHT - LEFT} height={BOTTOM - TOP} />
        <text x={(LEFT + RIGHT) / 2} y={HEIGHT - 12} text-anchor="middle">
          {across.title}
        </text>
        <text transform={`translate(14 ${(TOP + BOTTOM) / 2}) rotate(-90)`} text-anchor="middle">
          {up.title}
        </text>
      </svg>
    </figure>
  );
}

/** The points of a line, for SVG. */
export const pointsOf = (points: readonly (readonly [x: number, y: number])[]): string =>
  points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
