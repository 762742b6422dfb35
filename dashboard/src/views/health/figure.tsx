// SPDX-License-Identifier: Apache-2.0
import type { AdminFigure } from 'veravox-client';
import { percent } from '../../logic/formats.js';

interface FigureProps {
  readonly figure: AdminFigure;
  /** Shown as a percentage. */
  readonly isShare?: boolean;
  /** In a table whose caption names the interval. */
  readonly isInTable?: boolean;
}

/** A figure with its interval. */
export function Figure({
  figure: { value, interval_95: interval },
  isShare = true,
  isInTable = false,
}: FigureProps) {
  const text = (number: number): string => (isShare ? percent(number, 1) : number.toFixed(3));
  return (
    <>
      {text(value)}{' '}
      <span class={isInTable ? 'soft whole' : 'soft'}>
        {interval === null
          ? '(no interval)'
          : `(${isInTable ? '' : '95 % interval '}${text(interval[0] ?? value)} to ${text(interval[1] ?? value)})`}
      </span>
    </>
  );
}
