// SPDX-License-Identifier: Apache-2.0
import type { DriftBar } from '../../logic/drift-bars.js';
import { percent } from '../../logic/formats.js';
import { Table } from '../../parts/table.js';

const WIDTH = 360;
const HEIGHT = 120;
const GAP = 2;

interface DriftHistogramProps {
  readonly model: string;
  readonly bars: readonly DriftBar[];
}

/** Current scores as bars, the reference as a line over them: both are shares of the files. */
export function DriftHistogram({ model, bars }: DriftHistogramProps) {
  const most = Math.max(0.01, ...bars.map(({ reference, current }) => Math.max(reference, current)));
  const width = WIDTH / bars.length;
  const y = (share: number): number => HEIGHT * (1 - share / most);
  const line = bars
    .map(({ reference }, i) => `H${(i * width).toFixed(1)}V${y(reference).toFixed(1)}`)
    .join('');
  const middle = WIDTH / 2;
  return (
    <>
      <svg
        class="histogram"
        viewBox={`0 -4 ${WIDTH} ${HEIGHT + 22}`}
        role="img"
        aria-label={`Scores of ${model}: shares of the files now and in the reference. The table below has the same numbers.`}
      >
        {bars.map(({ scores, current }, i) => (
          <rect
            key={scores}
            class="now"
            x={i * width + GAP / 2}
            y={y(current)}
            width={width - GAP}
            height={HEIGHT - y(current)}
          />
        ))}
        <path class="before" d={`M0 ${HEIGHT}${line}H${WIDTH}V${HEIGHT}`} />
        <path class="axis" d={`M0 ${HEIGHT}H${WIDTH}M${middle} ${HEIGHT}v4`} />
        <text x="0" y={HEIGHT + 15}>
          human
        </text>
        <text x={middle} y={HEIGHT + 15} text-anchor="middle">
          0.5
        </text>
        <text x={WIDTH} y={HEIGHT + 15} text-anchor="end">
          AI-generated
        </text>
      </svg>
      <p class="key">
        <span class="bar-swatch now" /> now <span class="bar-swatch before" /> reference
      </p>
      <details>
        <summary>Scores as a table</summary>
        <Table
          label={`Scores of ${model}`}
          caption="Shares of the files"
          columns={['Score', { number: 'Reference' }, { number: 'Now' }]}
        >
          {bars.map(({ scores, reference, current }) => (
            <tr key={scores}>
              <th scope="row">{scores}</th>
              <td class="number">{percent(reference, 1)}</td>
              <td class="number">{percent(current, 1)}</td>
            </tr>
          ))}
        </Table>
      </details>
    </>
  );
}
