// SPDX-License-Identifier: Apache-2.0
import type { AudioRegion } from '../../base/addon/addon.js';
import { ServiceError } from '../../base/errors/service-error.js';

interface RegionFields {
  readonly start?: number | undefined;
  readonly end?: number | undefined;
}

/**
 * The region that a request asks for.
 * @throws ServiceError FIELD_INVALID if it ends before it starts; whether the recording has it shows while decoding
 */
export function regionOf({ start, end }: RegionFields): AudioRegion {
  if (end !== undefined && end <= (start ?? 0)) {
    const expected = `a number of seconds after start, which is ${start ?? 0},`;
    throw new ServiceError('FIELD_INVALID', { field: 'end', expected, received: String(end) });
  }
  return { ...(start !== undefined && { startS: start }), ...(end !== undefined && { endS: end }) };
}
