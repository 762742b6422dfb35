// SPDX-License-Identifier: Apache-2.0
import { type Counts, measures } from '../../logic/usage-series.js';
import { measureTexts } from './measures.js';

/** The totals of the range. */
export function UsageFigures({ totals }: { readonly totals: Counts }) {
  return (
    <dl class="figures">
      {measures.map((measure) => (
        <div key={measure} class="card figure">
          <dt>{measureTexts[measure].title}</dt>
          <dd>{measureTexts[measure].format(totals[measure])}</dd>
        </div>
      ))}
    </dl>
  );
}
