// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';
import { type HealthFields, healthRequest, MAX_POINTS } from '../contract/health-fields.js';
import { COARSE_SPAN_S, FINE_SPAN_S, type Span } from '../health/slots.js';

/** Steps that the server chooses from; all of the first hour or day fit. */
const USUAL_STEPS_S = [1, 2, 5, 10, 20, 30, 60, 120, 300] as const;
const COARSE_S = 10;

/** The history that a request asks for, in seconds since 1970. */
export type WallSpan = Span;

/**
 * @param nowS seconds since 1970
 * @throws ServiceError FIELD_INVALID
 */
export function spanOf(fields: HealthFields, nowS: number): WallSpan {
  // Slots of this second are over when it is.
  const toS = Math.min(
    fields.to === undefined ? Number.POSITIVE_INFINITY : Number(fields.to),
    Math.ceil(nowS),
  );
  const earliestS = Math.floor(nowS) - COARSE_SPAN_S;
  const fromS = Math.max(
    fields.from === undefined ? toS - Number(fields.last_s) : Number(fields.from),
    earliestS,
  );
  if (fromS >= toS)
    throw invalid('from', 'a time before `to`, and not in the future', fields.from ?? fields.to);
  const lengthS = toS - fromS;
  const stepS = fields.step_s === undefined ? shortestStepS(fromS, lengthS, nowS) : Number(fields.step_s);
  if (!isStep(stepS) || lengthS / stepS > MAX_POINTS)
    throw invalid('step_s', healthRequest.schemas.step_s.expected, fields.step_s);
  if (stepS < COARSE_S && fromS < Math.floor(nowS) - FINE_SPAN_S - stepS)
    throw invalid('step_s', 'a multiple of 10 for times more than an hour ago', fields.step_s);
  return { fromS, toS, stepS };
}

const isStep = (stepS: number): boolean =>
  stepS % COARSE_S === 0 || (stepS < COARSE_S && COARSE_S % stepS === 0);

function shortestStepS(fromS: number, lengthS: number, nowS: number): number {
  const isFine = fromS >= Math.floor(nowS) - FINE_SPAN_S;
  const fitting = USUAL_STEPS_S.filter((stepS) => isFine || stepS >= COARSE_S);
  return fitting.find((stepS) => lengthS / stepS <= MAX_POINTS) ?? (USUAL_STEPS_S.at(-1) as number);
}

const invalid = (field: string, expected: string, received: unknown): ServiceError =>
  new ServiceError('FIELD_INVALID', { field, expected, received: JSON.stringify(received ?? 'none') });
