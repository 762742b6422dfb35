// SPDX-License-Identifier: Apache-2.0
import { MAX_SEPARATE_CHANNELS } from '../../base/contract/limits.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { Analyser, Analysis, AnalysisRequest } from './analyser.js';

/**
 * Analyses each channel of a recording on its own, one after the other.
 * @param mix the analysis of the mix of all channels, which is that of a single one
 * @throws ServiceError CHANNELS_TOO_MANY and the analyser's errors
 */
export async function analyseChannels(
  analyser: Pick<Analyser, 'analyse'>,
  request: AnalysisRequest,
  mix: Analysis,
): Promise<readonly Analysis[]> {
  if (mix.channels === 1) return [mix];
  const analyses: Analysis[] = [];
  let channel = nextChannel(undefined, mix.channels);
  while (channel !== undefined) {
    analyses.push(await analyser.analyse({ ...request, channel }));
    channel = nextChannel(channel, mix.channels);
  }
  return analyses;
}

/**
 * The next channel after this one, or after the mix; undefined after the last, and if there is only one.
 * @throws ServiceError CHANNELS_TOO_MANY
 */
export function nextChannel(channel: number | undefined, channels: number): number | undefined {
  if (channels > MAX_SEPARATE_CHANNELS) {
    throw new ServiceError('CHANNELS_TOO_MANY', { channels, allowed: MAX_SEPARATE_CHANNELS });
  }
  const next = channel === undefined ? 0 : channel + 1;
  return channels === 1 || next >= channels ? undefined : next;
}
