// SPDX-License-Identifier: Apache-2.0
import type { Config } from './options.js';

/** The path of this server behind a proxy that removes it from requests, such as `/veravox`; empty without one. */
export function publicPath({
  dashboardOrigin,
  storagePublicUrl,
  storageBucket,
}: Pick<Config, 'dashboardOrigin' | 'storagePublicUrl' | 'storageBucket'>): string {
  const address = dashboardOrigin || (storageBucket === '' ? storagePublicUrl : '');
  return pathOf(address);
}

/** Without a slash at its end. @param address of a setting; may be empty */
export const pathOf = (address: string): string =>
  address === '' ? '' : new URL(address).pathname.replace(/\/$/, '');
