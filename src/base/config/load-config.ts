// SPDX-License-Identifier: Apache-2.0
//
// This room reads the settings from the environment: tables of options by subject, their units and ranges,
// and contradictions between them. docs/configuration.md is generated from the tables.
import os from 'node:os';
import { contradictionsOf } from './contradictions.js';
import { stateDirIn } from './data-dir.js';
import { constants, derivedValues } from './fixed-values.js';
import type { Option, Surroundings } from './option.js';
import { type Config, options } from './options.js';
import { packageDir } from './package-dir.js';
import { placeIn } from './process-place.js';
import { textOf } from './secret-files.js';
import { unknownVariables } from './unknown-variables.js';

/** Unusable settings; each problem names the variable, the accepted values and the given one. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(problems: readonly string[]) {
    super(
      problems.length === 1
        ? problems[0]
        : `${problems.length} problems with the settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

function surroundingsIn(env: Environment): Surroundings {
  const cores = os.availableParallelism() / (placeIn(env)?.processes ?? 1);
  return { cores, packageDir, stateDir: stateDirIn(env) };
}

/**
 * Reads the settings from environment variables; an empty one counts as not set, since compose files write them.
 * @throws ConfigError with all problems, including variables that look misspelt
 */
export function loadConfig(env: Environment, surroundings: Surroundings = surroundingsIn(env)): Config {
  const problems = unknownVariables(env).flatMap(({ variable, suggestion }) =>
    suggestion === undefined ? [] : [`There is no setting ${variable}. Did you mean ${suggestion}?`],
  );
  const set = new Set<string>();
  const given = (option: Option<unknown>): string => {
    try {
      return textOf(option, env);
    } catch (error) {
      problems.push((error as Error).message);
      return '';
    }
  };
  const settings = Object.entries(options).map(([name, option]: [string, Option<unknown>]) => {
    const text = given(option);
    if (text === '') return [name, option.default(surroundings)];
    set.add(name);
    const value = option.parse(text);
    if (value !== undefined) return [name, value];
    const example = option.example === undefined ? '' : `, or with a unit, such as ${option.example},`;
    const received = option.isSecret
      ? 'another value, which is not shown'
      : (option.wrongPart?.(text) ?? text);
    problems.push(`Expected ${option.accepts}${example} for ${option.variable} but received ${received}.`);
    return [name, option.default(surroundings)];
  });
  const values = Object.fromEntries(settings);
  const onGpu = Object.entries(options).flatMap(([name, option]: [string, Option<unknown>]) =>
    option.defaultOnGpu === undefined
      ? []
      : [[name, set.has(name) ? values[name] : option.defaultOnGpu(surroundings)]],
  );
  // The type of `options` ties each name to its value's type; Object.entries forgets that.
  const config = {
    ...values,
    ...constants,
    ...derivedValues(values as Config),
    onGpu: Object.fromEntries(onGpu),
  } as Config;
  problems.push(...contradictionsOf(config, set));
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}
