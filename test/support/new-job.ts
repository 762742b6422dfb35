// SPDX-License-Identifier: Apache-2.0
import type { NewJob } from '../../src/jobs/queue/job.js';

export const newJob: NewJob = {
  account: 'a',
  keyId: 'key_a',
  task: 'predict',
  source: '{"object":"folder/analysis/key"}',
  parameters: JSON.stringify({ model: 'm', threshold: 0.5, silenceThresholdPercent: 80 }),
};
