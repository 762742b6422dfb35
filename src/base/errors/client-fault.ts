// SPDX-License-Identifier: Apache-2.0

/** Whether an error is the client's: also 501, for a feature that the server does not have, now or later. */
export const isClientFault = (status: number): boolean => (status >= 400 && status < 500) || status === 501;
