// SPDX-License-Identifier: Apache-2.0
import { isClientFault } from '../../base/errors/client-fault.js';
import type { ServiceError } from '../../base/errors/service-error.js';
import { DamagedValue } from '../../state/database/stored-json.js';

/** A client's mistake stays one, and a damaged row damaged. @param failure of the cause, for clients */
export const isWorthRetrying = (cause: unknown, { status }: ServiceError): boolean =>
  !(isClientFault(status) || cause instanceof DamagedValue) || status === 408 || status === 429;
