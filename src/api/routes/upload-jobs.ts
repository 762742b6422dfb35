// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import { type JobFields, jobFieldSchemas } from '../../base/contract/job-fields.js';
import type { DetectorNames } from '../../base/contract/model-ids.js';
import type { JobParameters, JobSource } from '../../state/jobs/job-text.js';
import type { Jobs } from '../../state/jobs/jobs.js';
import { FieldValidator } from './form-fields.js';
import { answered } from './job-answers.js';
import type { OnStored } from './stored-file.js';

export const ANALYSIS_ENTITY = 'analysis';
const RESULTS_ENTITY = 'results';

/** From here on, the interface has no request that waits for the verdict. */
const LARGE_BYTES = 100_000_000;

/** Makes a job of each upload that the settings choose, with the default parameters. */
export function uploadJobs(
  { analyseUploads }: Pick<Config, 'analyseUploads'>,
  jobs: Jobs | undefined,
  detectors: readonly DetectorNames[],
): OnStored {
  if (jobs === undefined || analyseUploads === 'off') return async () => {};
  const minBytes = analyseUploads === 'all' ? 1 : LARGE_BYTES;
  const defaults = new FieldValidator<JobFields>({ schemas: jobFieldSchemas(detectors) }).fromJson({});
  const parameters: JobParameters = {
    model: defaults.model,
    threshold: Number(defaults.threshold),
    silenceThresholdPercent: defaults.silence_threshold,
  };
  return async ({ name, bytes }, owner) => {
    if (bytes < minBytes) return;
    const [folder, , ...key] = name.split('/');
    const source: JobSource = {
      object: name,
      resultObject: [folder, RESULTS_ENTITY, ...key].join('/'),
    };
    await answered(() =>
      jobs.create({
        ...owner,
        task: 'predict',
        source: JSON.stringify(source),
        parameters: JSON.stringify(parameters),
      }),
    );
  };
}
