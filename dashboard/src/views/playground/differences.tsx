// SPDX-License-Identifier: Apache-2.0
import { clock } from '../../logic/clock.js';
import { resultWords } from '../../logic/conclusion.js';
import { compared } from '../../logic/differences.js';
import { inCount } from '../../logic/formats.js';
import type { ScoredWindow, Stretch } from '../../logic/windows.js';
import { Table } from '../../parts/table.js';

interface DifferencesProps {
  readonly names: readonly [string, string];
  readonly first: readonly ScoredWindow[];
  readonly second: readonly ScoredWindow[];
  onChoose(window: Stretch): void;
}

/** More would be a table of the recording. */
const MOST_ROWS = 100;

/** Disagreements of two models. */
export function Differences({ names, first, second, onChoose }: DifferencesProps) {
  const { shared, disagreements, meanDifference, largest } = compared(first, second);
  return (
    <section class="card" aria-label="Differences">
      <h2>Differences</h2>
      <p>
        {shared === 0
          ? 'No window has a verdict from both models.'
          : `The models disagree on ${disagreements.length} of ${inCount(shared, 'window')}. Their scores differ by ${meanDifference?.toFixed(3)} on average`}
        {largest !== undefined &&
          `, and most at ${clock(largest.startS)}: ${largest.first.score.toFixed(3)} and ${largest.second.score.toFixed(3)}.`}
      </p>
      {disagreements.length > 0 && (
        <Table
          label="Windows with different verdicts"
          caption={`Windows with different verdicts${disagreements.length > MOST_ROWS ? `: the first ${MOST_ROWS}` : ''}`}
          columns={['From', ...names]}
        >
          {disagreements.slice(0, MOST_ROWS).map((each) => (
            <tr key={each.startS}>
              <th scope="row">
                <button type="button" class="plain" onClick={() => onChoose(each)}>
                  {clock(each.startS, 3)}
                </button>
              </th>
              {[each.first, each.second].map(({ score, result }, i) => (
                <td key={names[i]}>
                  <span class={`verdict ${result}`}>{resultWords[result]}</span> {score.toFixed(3)}
                </td>
              ))}
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
