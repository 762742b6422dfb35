// SPDX-License-Identifier: Apache-2.0
import { LeasedRates } from '../api/admission/leased-rates.js';
import { rateLimitOf } from '../api/admission/rate-limits.js';
import type { Config } from '../base/config/options.js';
import type { Logger } from '../base/observe/log.js';
import type { Database } from '../state/database/database.js';
import { RateWindows } from '../state/rates/rate-windows.js';

/** Undefined if the database has one host alone, whose memory is enough. */
export function openRatesOverHosts(
  config: Config,
  database: Database,
  logger: Logger,
): LeasedRates | undefined {
  if (database.dialect !== 'postgres') return undefined;
  return new LeasedRates(new RateWindows(database), rateLimitOf(config), {
    onAlone(error) {
      if (error === undefined) logger.info('rate limits hold over all hosts again');
      else logger.error({ err: error }, 'rate limits hold for this host alone until the database answers');
    },
  });
}
