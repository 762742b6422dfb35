// SPDX-License-Identifier: Apache-2.0
import { useId } from 'preact/hooks';
import { largest, type NamedValues } from '../../logic/health-series.js';
import { MOST_SERIES, Plot } from '../../parts/plot.js';
import { Table } from '../../parts/table.js';

interface HistoryPlotProps {
  readonly title: string;
  readonly summary: string;
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly NamedValues[];
  readonly format: (value: number) => string;
}

/** Rows of the table beside a plot: each has the largest value of some steps. */
const TABLE_ROWS = 24;
const time = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** A plot with its sentence and its table. */
export function HistoryPlot({ title, summary, times, series, format }: HistoryPlotProps) {
  const headingId = useId();
  const isKnown = series.some(({ values }) => values.some((value) => value !== null));
  return (
    <article class="card" aria-labelledby={headingId}>
      <h3 id={headingId}>{title}</h3>
      <p class="soft">{summary}</p>
      {isKnown && (
        <>
          <Plot
            label={`${title} over time. ${summary}`}
            xs={times}
            series={series.slice(0, MOST_SERIES)}
            format={format}
            heightPx={200}
          />
          <details>
            <summary>{title} as a table</summary>
            <HistoryTable title={title} times={times} series={series} format={format} />
          </details>
        </>
      )}
    </article>
  );
}

function HistoryTable({ title, times, series, format }: Omit<HistoryPlotProps, 'summary'>) {
  const stepsPerRow = Math.max(1, Math.ceil(times.length / TABLE_ROWS));
  const rows = times.filter((_, i) => i % stepsPerRow === 0);
  const text = (values: readonly (number | null)[], row: number): string => {
    const value = largest(values.slice(row * stepsPerRow, (row + 1) * stepsPerRow));
    return value === undefined ? '–' : format(value);
  };
  return (
    <Table
      label={`${title} as a table`}
      caption={`The largest value of ${stepsPerRow === 1 ? 'each step' : `${stepsPerRow} steps each`}`}
      columns={['From', ...series.map(({ name }) => ({ number: name }))]}
    >
      {rows.map((seconds, row) => (
        <tr key={seconds}>
          <th scope="row">{time.format(seconds * 1000)}</th>
          {series.map(({ name, values }) => (
            <td key={name} class="number">
              {text(values, row)}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}
