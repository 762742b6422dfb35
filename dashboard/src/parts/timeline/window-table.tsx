// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useState } from 'preact/hooks';
import { clock } from '../../logic/clock.js';
import { resultWords } from '../../logic/conclusion.js';
import { count } from '../../logic/formats.js';
import type { Result, ScoredWindow } from '../../logic/windows.js';
import { Table } from '../table.js';
import { shown } from './sentences.js';

interface WindowTableProps {
  readonly windows: readonly ScoredWindow[];
  readonly chosen: number | undefined;
  onChoose(at: number): void;
}

const ROWS = 50;
type Kind = 'all' | Result;

/** The windows, some at a time. */
export function WindowTable({ windows, chosen, onChoose }: WindowTableProps) {
  const [isOpen, setIsOpen] = useState(false);
  const [kind, setKind] = useState<Kind>('all');
  const [page, setPage] = useState(0);
  const listed = useMemo(
    () => windows.flatMap(({ result }, at) => (kind === 'all' || result === kind ? [at] : [])),
    [windows, kind],
  );
  // The page of the chosen window is shown.
  useEffect(() => {
    const row = chosen === undefined ? -1 : listed.indexOf(chosen);
    if (row >= 0) setPage(Math.floor(row / ROWS));
  }, [chosen, listed]);
  const pages = Math.max(1, Math.ceil(listed.length / ROWS));
  const shownPage = Math.min(page, pages - 1);
  const from = shownPage * ROWS;
  const rows = listed.slice(from, from + ROWS);

  return (
    <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{windows.length === 1 ? 'One window' : `${count(windows.length)} windows`} as a table</summary>
      {isOpen && (
        <>
          <div class="row">
            <select
              aria-label="Windows in the table"
              value={kind}
              onChange={({ currentTarget }) => setKind(currentTarget.value as Kind)}
            >
              <option value="all">All windows</option>
              <option value="spoofed">Only AI-generated</option>
              <option value="bonafide">Only human</option>
            </select>
            {pages > 1 && (
              <>
                <button type="button" disabled={shownPage === 0} onClick={() => setPage(shownPage - 1)}>
                  Previous
                </button>
                <button
                  type="button"
                  disabled={shownPage === pages - 1}
                  onClick={() => setPage(shownPage + 1)}
                >
                  Next
                </button>
              </>
            )}
            <span class="soft">
              {listed.length === 0 ? 'None' : `${from + 1} to ${from + rows.length} of ${listed.length}`}
            </span>
          </div>
          <Table
            label="Windows"
            columns={['From', 'To', { number: 'Score' }, 'Verdict', { number: 'Confidence' }]}
          >
            {rows.map((at) => (
              <Row key={at} window={windows[at]} isChosen={at === chosen} onChoose={() => onChoose(at)} />
            ))}
          </Table>
        </>
      )}
    </details>
  );
}

interface RowProps {
  readonly window: ScoredWindow | undefined;
  readonly isChosen: boolean;
  onChoose(): void;
}

function Row({ window, isChosen, onChoose }: RowProps) {
  if (window === undefined) return null;
  const { startS, endS, score, result, confidence } = window;
  return (
    <tr class={isChosen ? 'is-chosen' : ''}>
      <th scope="row">
        <button type="button" class="plain" aria-pressed={isChosen} onClick={onChoose}>
          {clock(startS, 3)}
        </button>
      </th>
      <td>{clock(endS, 3)}</td>
      <td class="number">{shown(score)}</td>
      <td>
        <span class={`verdict ${result}`}>{resultWords[result]}</span>
      </td>
      <td class="number">{shown(confidence)}</td>
    </tr>
  );
}
