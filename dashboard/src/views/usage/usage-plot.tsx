// SPDX-License-Identifier: Apache-2.0
import { useMemo } from 'preact/hooks';
import { daysBetween, secondsOf } from '../../logic/days.js';
import { printable } from '../../logic/printable.js';
import type { UsageFilter } from '../../logic/usage-filter.js';
import { type UsageGroup, valuesOf, withRest } from '../../logic/usage-series.js';
import { Name } from '../../parts/name.js';
import { MOST_SERIES, Plot, type PlotSeries } from '../../parts/plot.js';
import { Table } from '../../parts/table.js';
import { measureTexts } from './measures.js';

interface UsagePlotProps {
  readonly groups: readonly UsageGroup[];
  readonly filter: UsageFilter;
}

/** One line for each of the largest groups. */
export function UsagePlot({ groups, filter: { measure, from, to, by } }: UsagePlotProps) {
  const days = useMemo(() => daysBetween(from, to), [from, to]);
  const xs = useMemo(() => days.map(secondsOf), [days]);
  const series = useMemo(
    () =>
      withRest(groups, MOST_SERIES).map((group) => ({
        name: printable(group.name),
        values: valuesOf(group, measure, from, to),
      })),
    [groups, measure, from, to],
  );
  const { title, format, steps } = measureTexts[measure];
  return (
    <section class="card" aria-labelledby="usage-plot">
      <h2 id="usage-plot">{title} per day</h2>
      {series.length === 0 ? (
        <p>No requests in this period.</p>
      ) : (
        <>
          <Plot
            label={`${title} per UTC day and ${by}. The table below has the same values.`}
            xs={xs}
            series={series}
            format={format}
            {...(steps !== undefined && { steps })}
            areDays
          />
          <details>
            <summary>The plot as a table</summary>
            <PlottedTable days={days} series={series} title={title} format={format} />
          </details>
        </>
      )}
    </section>
  );
}

interface PlottedTableProps {
  readonly days: readonly string[];
  readonly series: readonly PlotSeries[];
  readonly title: string;
  readonly format: (value: number) => string;
}

function PlottedTable({ days, series, title, format }: PlottedTableProps) {
  return (
    <Table
      label="Plotted values"
      caption={`${title} per UTC day`}
      columns={['Day', ...series.map(({ name }) => ({ number: <Name text={name} /> }))]}
    >
      {days.map((day, at) => (
        <tr key={day}>
          <th scope="row">{day}</th>
          {series.map(({ values }, i) => (
            <td key={i} class="number">
              {format(values[at] ?? 0)}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}
