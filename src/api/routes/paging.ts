// SPDX-License-Identifier: Apache-2.0
import { CURSOR } from '../../base/contract/paging.js';
import { ServiceError } from '../../base/errors/service-error.js';

/** Reads a page. @throws ServiceError FIELD_INVALID for a cursor that comes from no page */
export async function pageAfter<Page>(cursor: string | undefined, read: () => Promise<Page>): Promise<Page> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const received = JSON.stringify(cursor);
    throw new ServiceError('FIELD_INVALID', { field: 'cursor', expected: CURSOR.expected, received });
  }
}
