// SPDX-License-Identifier: Apache-2.0
import { useMemo, useState } from 'preact/hooks';
import type { AdminModel, AdminModelFigures } from 'veravox-client';
import { byThreshold, errorNames, nearest, type RatesAt, ratesAt } from '../../logic/error-rates.js';
import { percent } from '../../logic/formats.js';
import { Field } from '../../parts/field.js';
import { DetCurve } from '../../parts/plots/det-curve.js';
import { Table } from '../../parts/table.js';
import { Figure } from './figure.js';

/** The cost of each threshold: human voices called AI-generated against AI-generated ones that pass. */
export function ThresholdPicker({ model }: { readonly model: AdminModel }) {
  const { thresholds, det, eer } = model.figures;
  const [threshold, setThreshold] = useState(0.5);
  const points = useMemo(() => pointsOf(model.figures), [model.figures]);
  if (points.length === 0 && det === null)
    return <p class="soft">No error rates are known for this model.</p>;
  const rates = ratesAt(points, threshold);
  const [first, last] = [points[0], points.at(-1)];
  const row = thresholds === null ? undefined : nearest(thresholds, threshold);
  return (
    <div class="threshold-picker">
      {det !== null && (
        <DetCurve
          curve={det}
          eer={eer?.value ?? 1}
          marks={[
            ...(eer === null
              ? []
              : [{ name: `EER ${percent(eer.value, 1)}`, fpr: eer.value, fnr: eer.value }]),
            ...(rates === undefined ? [] : [{ ...rates, name: `threshold ${threshold.toFixed(3)}` }]),
          ]}
          names={errorNames.detection}
        />
      )}
      {first !== undefined && last !== undefined && (
        <>
          <Field label="Threshold" hint="Scores at or above it look AI-generated.">
            {(ids) => (
              <input
                {...ids}
                type="range"
                min="0"
                max="1"
                step="0.005"
                value={threshold}
                aria-valuetext={threshold.toFixed(3)}
                onInput={({ currentTarget }) => setThreshold(currentTarget.valueAsNumber)}
              />
            )}
          </Field>
          <output>
            {rates === undefined
              ? `Not measured at a threshold of ${threshold.toFixed(3)}, only from ${first.threshold.toFixed(3)} to ${last.threshold.toFixed(3)}.`
              : sentenceOn(rates)}
          </output>
          {row !== undefined && (
            <p class="soft">
              Nearest measured threshold: {row.threshold.toFixed(3)}, false positives{' '}
              <Figure figure={row.fpr} />, false negatives <Figure figure={row.fnr} />.
            </p>
          )}
        </>
      )}
      {thresholds !== null && <ThresholdTable thresholds={thresholds} onChoose={setThreshold} />}
    </div>
  );
}

const sentenceOn = ({ threshold, fpr, fnr }: RatesAt): string =>
  `At a threshold of ${threshold.toFixed(3)}, about ${percent(fpr, 1)} of human voices are called AI-generated, and ` +
  `${percent(fnr, 1)} of AI-generated ones pass.`;

/** All measured points with a threshold. */
function pointsOf({ det, thresholds }: AdminModelFigures) {
  const rows = (thresholds ?? []).map(({ threshold, fpr, fnr }) => ({
    threshold,
    fpr: fpr.value,
    fnr: fnr.value,
  }));
  return byThreshold([...(det ?? []), ...rows]);
}

interface ThresholdTableProps {
  readonly thresholds: NonNullable<AdminModelFigures['thresholds']>;
  readonly onChoose: (threshold: number) => void;
}

const ThresholdTable = ({ thresholds, onChoose }: ThresholdTableProps) => (
  <details>
    <summary>Measured thresholds</summary>
    <Table
      label="Measured thresholds"
      caption="Error rates with 95 % intervals over systems and sources"
      columns={['Threshold', 'False positives', 'False negatives']}
    >
      {thresholds.map(({ threshold, target_fpr: target, fpr, fnr }) => (
        <tr key={`${threshold} ${target}`}>
          <th scope="row">
            <button type="button" onClick={() => onChoose(threshold)}>
              {threshold.toFixed(3)}
            </button>
            {target !== null && <div class="soft">for {percent(target, 1)} false positives</div>}
          </th>
          <td>
            <Figure figure={fpr} isInTable />
          </td>
          <td>
            <Figure figure={fnr} isInTable />
          </td>
        </tr>
      ))}
    </Table>
  </details>
);
