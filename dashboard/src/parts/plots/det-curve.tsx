// SPDX-License-Identifier: Apache-2.0
import { percent } from '../../logic/formats.js';
import { type Rates, rateRange, rateScale } from '../../logic/rate-scale.js';
import { Plot, pointsOf, WIDTH } from './plot.js';

/** Names of points that are nearer than this may lie on each other. */
const NEAR = 110;
const LINE_HEIGHT = 16;

export interface MarkedRates extends Rates {
  readonly name: string;
}

interface DetCurveProps {
  /** By rising threshold: `fpr` falls. */
  readonly curve: readonly Rates[];
  /** The equal error rate. */
  readonly eer: number;
  /** Points with names, such as the threshold in use. */
  readonly marks: readonly MarkedRates[];
  /** The two kinds of error, in words. */
  readonly names: { readonly fpr: string; readonly fnr: string };
}

/** Both kinds of error at each threshold: the detection error trade-off. */
export function DetCurve({ curve, eer, marks, names }: DetCurveProps) {
  const [lowest, highest] = rateRange(curve, eer);
  const scale = rateScale(lowest, highest);
  const within = (rate: number): number => Math.min(highest, Math.max(lowest, rate));
  const told = marks.map(
    ({ name, fpr, fnr }) => `${name}: ${percent(fpr, 1)} ${names.fpr}, ${percent(fnr, 1)} ${names.fnr}`,
  );
  return (
    <Plot
      title="Detection error trade-off"
      description={told.join('. ')}
      across={{ title: names.fpr, scale }}
      up={{ title: names.fnr, scale }}
    >
      {({ x, y }) => {
        // Between two thresholds, one rate changes after the other.
        const steps: [number, number][] = [];
        for (const { fpr, fnr } of curve) {
          const before = steps.at(-1);
          if (before !== undefined) steps.push([x(fpr), before[1]]);
          steps.push([x(fpr), y(fnr)]);
        }
        return (
          <>
            <line class="guide" x1={x(lowest)} y1={y(lowest)} x2={x(highest)} y2={y(highest)} />
            <polyline class="line" points={pointsOf(steps)} />
            {namesOf(marks.map(({ fpr, fnr }) => [x(within(fpr)), y(within(fnr))])).map((place, i) => (
              <g key={marks[i]?.name}>
                <circle class="mark" cx={place.atX} cy={place.atY} r={5}>
                  <title>{told[i]}</title>
                </circle>
                <text x={place.x} y={place.y} text-anchor={place.isRight ? 'end' : 'start'}>
                  {marks[i]?.name}
                </text>
              </g>
            ))}
          </>
        );
      }}
    </Plot>
  );
}

interface NamePlace {
  readonly atX: number;
  readonly atY: number;
  readonly x: number;
  readonly y: number;
  /** Whether the name ends at its place, because it lies in the right half. */
  readonly isRight: boolean;
}

/** Places for the names of points: beside them, and below each other if they would overlap. */
function namesOf(points: readonly (readonly [x: number, y: number])[]): readonly NamePlace[] {
  const places: NamePlace[] = [];
  for (const [atX, atY] of points) {
    const isRight = atX > WIDTH / 2;
    const x = isRight ? atX - 10 : atX + 10;
    const near = places.filter((other) => Math.abs(other.x - x) < NEAR).map((other) => other.y);
    let y = isRight ? atY + 18 : atY - 8;
    for (const other of near.sort((a, b) => a - b)) {
      if (Math.abs(other - y) < LINE_HEIGHT) y = other + LINE_HEIGHT;
    }
    places.push({ atX, atY, x, y, isRight });
  }
  return places;
}
