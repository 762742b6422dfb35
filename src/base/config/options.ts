// SPDX-License-Identifier: Apache-2.0
import { admissionOptions } from './admission-options.js';
import { analysisOptions } from './analysis-options.js';
import { dashboardOptions } from './dashboard-options.js';
import { databaseOptions } from './database-options.js';
import { engineOptions } from './engine-options.js';
import type { constants, derivedValues } from './fixed-values.js';
import { jobOptions } from './job-options.js';
import { listeningOptions } from './listening-options.js';
import type { Option } from './option.js';
import { outputOptions } from './output-options.js';
import { recordsOptions } from './records-options.js';
import { storageOptions } from './storage-options.js';
import { streamOptions } from './stream-options.js';
import { tracingOptions } from './tracing-options.js';

/** The one table of settings: `loadConfig` reads them by it, and `docs/configuration.md` is generated from it. */
export const options = {
  ...listeningOptions,
  ...dashboardOptions,
  ...engineOptions,
  ...admissionOptions,
  ...recordsOptions,
  ...databaseOptions,
  ...analysisOptions,
  ...jobOptions,
  ...streamOptions,
  ...storageOptions,
  ...outputOptions,
  ...tracingOptions,
};

type Options = typeof options;

type Values = {
  readonly [Name in keyof Options]: Options[Name] extends Option<infer Value> ? Value : never;
};

/** Everything that an operator can set, with its values, and what has no setting. */
export interface Config
  extends Values,
    Readonly<typeof constants>,
    Readonly<ReturnType<typeof derivedValues>> {
  /** The values that hold instead if a GPU runs the models. */
  readonly onGpu: Pick<Values, 'prepareThreads' | 'maxBatchWindows'>;
}
