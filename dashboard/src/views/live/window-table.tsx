// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import type { StreamEvent } from 'veravox-client';
import { clock } from '../../logic/clock.js';
import { resultWords } from '../../logic/conclusion.js';
import { Table } from '../../parts/table.js';

const FIRST_SHOWN = 12;

/** Every window, the newest first. */
export function WindowTable({ events }: { readonly events: readonly StreamEvent[] }) {
  const [isWhole, setIsWhole] = useState(false);
  if (events.length === 0) return <p class="soft">The first window comes after 5 s.</p>;
  const newest = events.toReversed();
  const shown = isWhole ? newest : newest.slice(0, FIRST_SHOWN);
  return (
    <>
      <Table
        label="Windows, as a table"
        caption="Windows, the newest first"
        columns={['Time', 'Verdict', { number: 'Score' }, { number: 'Confidence' }]}
      >
        {shown.map((event) => (
          <Row key={event.event} event={event} />
        ))}
      </Table>
      {events.length > FIRST_SHOWN && (
        <button type="button" onClick={() => setIsWhole(!isWhole)}>
          {isWhole ? `Show the last ${FIRST_SHOWN}` : `Show all ${events.length}`}
        </button>
      )}
    </>
  );
}

function Row({ event }: { readonly event: StreamEvent }) {
  const span = `${clock(event.start)} to ${clock(event.end)}`;
  if (event.type === 'skipped') {
    return (
      <tr>
        <td>{span}</td>
        <td colSpan={3} class="soft">
          skipped ({event.non_speech_percent.toFixed(0)} % silence)
        </td>
      </tr>
    );
  }
  return (
    <tr>
      <td>{span}</td>
      <td>
        <span class={`verdict ${event.result}`}>{resultWords[event.result]}</span>
      </td>
      <td class="number">{event.scores.map((score) => score.toFixed(3)).join(', ')}</td>
      <td class="number">{event.confidence.toFixed(3)}</td>
    </tr>
  );
}
