// SPDX-License-Identifier: Apache-2.0

const WIDTH = 128;
const MIDDLE = 8;
const MARGIN = 4;

interface IntervalProps {
  /** 0..1 */
  readonly value: number;
  readonly interval: readonly [number, number];
}

/** A share with its interval, drawn beside the numbers in a table. */
export function Interval({ value, interval: [low, high] }: IntervalProps) {
  const x = (share: number): number => MARGIN + share * (WIDTH - 2 * MARGIN);
  return (
    <svg class="interval" viewBox={`0 0 ${WIDTH} 16`} aria-hidden="true">
      <line class="axis" x1={x(0)} x2={x(1)} y1={MIDDLE} y2={MIDDLE} />
      <line class="span" x1={x(low)} x2={x(high)} y1={MIDDLE} y2={MIDDLE} />
      <circle class="dot" cx={x(value)} cy={MIDDLE} r={3.5} />
    </svg>
  );
}
