// SPDX-License-Identifier: Apache-2.0
import { useMemo } from 'preact/hooks';
import { clock } from '../logic/clock.js';
import { Name } from '../parts/name.js';
import { Table } from '../parts/table.js';
import { Lanes } from '../parts/verdict/lanes.js';
import { type AnalysedSheet, peaksOf, type Sheet } from './sheet.js';

interface SheetsProps {
  readonly sheets: readonly Sheet[];
}

/** Recordings and their verdicts over time. */
export function Sheets({ sheets }: SheetsProps) {
  return (
    <>
      <h1>{sheets.length === 1 ? 'Voices over time' : `${sheets.length} recordings`}</h1>
      <noscript>
        <p class="notice">The timelines need JavaScript.</p>
      </noscript>
      {sheets.length > 1 && <Overview sheets={sheets} />}
      {sheets.map((sheet, i) => (
        <section class="card" key={i} id={`f${i}`}>
          <h2>
            <Name text={sheet.file} />
          </h2>
          {'problem' in sheet ? (
            <p>
              Not analysed: <Name text={sheet.problem} />
            </p>
          ) : (
            <Analysed sheet={sheet} />
          )}
        </section>
      ))}
    </>
  );
}

function Overview({ sheets }: SheetsProps) {
  return (
    <section class="card" aria-label="Overview">
      <Table
        label="Recordings"
        columns={['Recording', 'Verdict', { number: 'Score' }, 'Reason', { number: 'Duration' }]}
      >
        {sheets.map((sheet, i) => (
          <tr key={i}>
            <th scope="row" class="named">
              <a href={`#f${i}`}>
                <Name text={sheet.file} />
              </a>
            </th>
            {'problem' in sheet ? <td colSpan={4}>not analysed</td> : <OverviewCells sheet={sheet} />}
          </tr>
        ))}
      </Table>
    </section>
  );
}

function OverviewCells({ sheet: { lanes, durationS } }: { readonly sheet: AnalysedSheet }) {
  const { global, conclusion } = lanes[0] ?? {};
  return (
    <>
      <td>
        <span class={`verdict ${conclusion?.look}`}>{conclusion?.word}</span> {conclusion?.rest}
      </td>
      <td class="number">{global?.score.toFixed(3)}</td>
      <td>{global?.reason}</td>
      <td class="number">{clock(durationS, 0)}</td>
    </>
  );
}

function Analysed({ sheet }: { readonly sheet: AnalysedSheet }) {
  const { file, lanes, threshold, durationS, modelId, level, speech } = sheet;
  const wave = useMemo(
    () => (level === undefined ? { note: 'The waveform could not be made.' } : { peaks: peaksOf(level) }),
    [level],
  );
  return (
    <>
      <Lanes
        lanes={lanes}
        threshold={threshold}
        durationS={durationS}
        otherWarnings="The answer as JSON has all of them."
        name={file}
        wave={wave}
        speech={speech}
      />
      <p class="soft">
        {clock(durationS, 0)} of audio, <Name text={modelId} />
      </p>
    </>
  );
}
