// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';
import type { Principal } from './principal.js';

export const seesAccount = (principal: Principal, account: string): boolean =>
  principal.account === undefined || principal.account === account;

/**
 * The account that a list is about; undefined for all of them.
 * @param asked as the request names it
 * @throws ServiceError FIELD_INVALID for another account than their own
 */
export function accountOfList(principal: Principal, asked: string | undefined): string | undefined {
  const { account: own } = principal;
  if (own === undefined || asked === undefined || asked === own) return own ?? asked;
  throw new ServiceError('FIELD_INVALID', {
    field: 'account',
    expected: `your account, ${own},`,
    received: asked,
  });
}
