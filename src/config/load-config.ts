// SPDX-License-Identifier: Apache-2.0
import os from 'node:os';
import type { Config } from './config.js';
import { stateDirIn } from './data-dir.js';
import type { Surroundings } from './option.js';
import { options } from './options.js';
import { packageDir } from './package-dir.js';

/** A setting that cannot be used; the message names the variable, what it accepts and what it was given. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

type Environment = Readonly<Record<string, string | undefined>>;

function surroundingsIn(env: Environment): Surroundings {
  return { cores: os.availableParallelism(), packageDir, stateDir: stateDirIn(env) };
}

/**
 * Reads the settings from environment variables; an empty one counts as not set, as compose files write it.
 * Throws ConfigError for the first that cannot be used.
 */
export function loadConfig(env: Environment, surroundings: Surroundings = surroundingsIn(env)): Config {
  const settings = Object.entries(options).map(([name, option]) => {
    const given = env[option.variable]?.trim();
    if (given === undefined || given === '') return [name, option.default(surroundings)];
    const value = option.parse(given);
    if (value === undefined) {
      throw new ConfigError(`Expected ${option.accepts} for ${option.variable} but received ${given}.`);
    }
    return [name, value];
  });
  // The type of `options` ties each name to its value's type; Object.entries forgets that.
  const config = Object.fromEntries(settings) as Config;
  for (const name of ['maxPredictBytes', 'maxLargeFileBytes', 'maxVoiceidBytes'] as const) {
    if (config[name] <= config.maxInflightBytes) continue;
    throw new ConfigError(
      `Expected at least ${options[name].variable} (${config[name]}) for VERAVOX_MAX_INFLIGHT_BYTES but ` +
        `received ${config.maxInflightBytes}: a file of the largest size would never be admitted.`,
    );
  }
  return config;
}

/** Variables that look like settings and are none: most likely misspelt. */
export function unknownVariables(env: Environment): string[] {
  const known = new Set(Object.values(options).map((option) => option.variable));
  return Object.keys(env).filter((variable) => variable.startsWith('VERAVOX_') && !known.has(variable));
}
