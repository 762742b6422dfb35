// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { colour } from '../shown-theme.js';
import { useTheme } from '../theme.js';

export interface PlotSeries {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

interface PlotProps {
  /** The plot in words, for readers who do not see it; a table with the same facts stands beside it. */
  readonly label: string;
  /** Seconds from 1970, ascending. */
  readonly xs: readonly number[];
  readonly series: readonly PlotSeries[];
  /** A value with its unit, for axis and legend; empty for values that the axis should not name. */
  readonly format: (value: number) => string;
  /** Between the values that the axis may name, ascending; by default round decimal numbers. */
  readonly steps?: readonly number[];
  /** Whether the times are UTC days; by default, moments in the reader's time zone. */
  readonly areDays?: boolean;
  readonly heightPx?: number;
}

/** In the order of the series: colour is never alone, the dashes also differ. */
const colours = ['--series-1', '--series-2', '--series-3', '--series-4', '--soft'] as const;
const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [4, 6]] as const;
/** The same for the legend. */
const borders = ['solid', 'dashed', 'dotted', 'double', 'groove'] as const;
export const MOST_SERIES = colours.length;

const dayFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const dayText = (seconds: number): string => dayFormat.format(new Date(1000 * seconds));
const minuteFormat = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const secondFormat = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

const dayStepsS = [1, 2, 3, 7, 14, 28, 56, 91, 182, 364].map((days) => 86_400 * days);

/** Of the axis: its texts in uPlot's font, and the space beside them. */
const CHAR_PX = 7;
const AXIS_GAP_PX = 24;
/** Between times that the axis names. */
const TIME_SPACE_PX = 72;

/** With this many values, only those get a dot that no line would show. */
const MANY = 64;

/** Indices of values without a neighbour. */
const alone = (values: readonly (number | null)[]): number[] =>
  values.flatMap((value, i) =>
    value !== null && (values[i - 1] ?? null) === null && (values[i + 1] ?? null) === null ? [i] : [],
  );

/** Values over time. Follows the theme and the width of its surroundings. */
export function Plot({ label, xs, series, format, steps, areDays = false, heightPx = 260 }: PlotProps) {
  const frame = useRef<HTMLDivElement>(null);
  const { isDark } = useTheme();
  // The theme's colours are read anew when it changes.
  useEffect(() => {
    const { current } = frame;
    if (current === null) return;
    const plot = new uPlot(optionsOf(), [[...xs], ...series.map(({ values }) => [...values])], current);
    const observer = new ResizeObserver(() => plot.setSize({ width: current.clientWidth, height: heightPx }));
    observer.observe(current);
    return () => {
      observer.disconnect();
      plot.destroy();
    };

    function optionsOf(): uPlot.Options {
      const axis = { stroke: colour('--soft'), grid: { stroke: colour('--rule'), width: 1 } };
      return {
        width: frame.current?.clientWidth ?? 0,
        height: heightPx,
        ...(areDays && { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') }),
        series: [
          {
            label: areDays ? 'Day' : 'Time',
            value: (_: uPlot, seconds: number | null) => {
              if (seconds === null) return '–';
              return areDays ? dayText(seconds) : secondFormat.format(1000 * seconds);
            },
          },
          ...series.map(({ name, values }, i) => ({
            label: name,
            stroke: colour(colours[i % MOST_SERIES] ?? '--soft'),
            dash: [...(dashes[i % MOST_SERIES] ?? [])],
            width: 2,
            points: { show: true, size: 6, filter: xs.length < MANY ? null : alone(values) },
            value: (_: uPlot, value: number | null) => (value === null ? '–' : format(value)),
          })),
        ],
        scales: { y: { range: (_, _least, most) => [0, most > 0 ? most * 1.05 : 1] } },
        axes: [
          {
            ...axis,
            ...(areDays && { incrs: [...dayStepsS] }),
            space: TIME_SPACE_PX,
            values: (_, ticks, _axis, _space, stepS) => {
              if (areDays) return ticks.map(dayText);
              const format = stepS < 60 ? secondFormat : minuteFormat;
              return ticks.map((seconds) => format.format(1000 * seconds));
            },
          },
          {
            ...axis,
            ...(steps !== undefined && { incrs: [...steps] }),
            size: (_, texts) =>
              AXIS_GAP_PX + CHAR_PX * Math.max(0, ...(texts ?? []).map(({ length }) => length)),
            values: (_, ticks) => ticks.map(format),
          },
        ],
        legend: {
          markers: {
            width: 3,
            dash: (_, i) => (i === 0 ? 'solid' : (borders[(i - 1) % MOST_SERIES] ?? 'solid')),
          },
        },
      };
    }
  }, [xs, series, format, steps, areDays, heightPx, isDark]);
  return <div class="plot" role="img" aria-label={label} ref={frame} />;
}
