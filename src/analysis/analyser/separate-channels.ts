// SPDX-License-Identifier: Apache-2.0
import { MAX_SEPARATE_CHANNELS } from '../../base/contract/limits.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { Analyser, Analysis, AnalysisRequest } from './analyser.js';

/**
 * Analyses each channel of a recording on its own, one after the other.
 * @param mix the analysis of the mix of all channels, which is that of a single one
 * @throws ServiceError CHANNELS_TOO_MANY and what the analyser throws
 */
export async function analyseChannels(
  analyser: Pick<Analyser, 'analyse'>,
  request: AnalysisRequest,
  mix: Analysis,
): Promise<readonly Analysis[]> {
  const { channels } = mix;
  if (channels > MAX_SEPARATE_CHANNELS) {
    throw new ServiceError('CHANNELS_TOO_MANY', { channels, allowed: MAX_SEPARATE_CHANNELS });
  }
  if (channels === 1) return [mix];
  const analyses: Analysis[] = [];
  for (let channel = 0; channel < channels; channel++) {
    analyses.push(await analyser.analyse({ ...request, channel }));
  }
  return analyses;
}
