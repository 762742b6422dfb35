// SPDX-License-Identifier: Apache-2.0
import { type ParseArgsConfig, parseArgs } from 'node:util';

/**
 * Reads the arguments of a benchmark. Ends the process with the usage: with 0 for --help, with 2 for unknown arguments.
 * @param usage the whole command line
 */
export function benchArguments<const Config extends ParseArgsConfig>(
  usage: string,
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  if (process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h')) {
    console.log(`Usage: ${usage}`);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    return wrongUsage(usage, (error as Error).message);
  }
}

/** Ends the process with 2. */
export function wrongUsage(usage: string, problem: string): never {
  console.error(`${problem}\nUsage: ${usage}`);
  process.exit(2);
}
