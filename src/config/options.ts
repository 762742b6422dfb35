// SPDX-License-Identifier: Apache-2.0

import { admissionOptions } from './admission-options.js';
import { analysisOptions } from './analysis-options.js';
import type { Config } from './config.js';
import { engineOptions } from './engine-options.js';
import { listeningOptions } from './listening-options.js';
import type { OptionsOf } from './option.js';
import { outputOptions } from './output-options.js';
import { recordsOptions } from './records-options.js';
import { storageOptions } from './storage-options.js';

/** The one table of settings: `loadConfig` reads by it, and `docs/configuration.md` is made from it. */
export const options: OptionsOf<keyof Config> = {
  ...listeningOptions,
  ...engineOptions,
  ...admissionOptions,
  ...recordsOptions,
  ...analysisOptions,
  ...storageOptions,
  ...outputOptions,
};
