#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
import { Command, CommanderError } from 'commander';
import { packageVersion } from '../config/package-dir.js';
import { addCalibrateCommand } from './calibrate.js';
import { addDoctorCommand } from './doctor.js';
import { addEvaluateCommand } from './evaluate.js';
import { addKeysCommand } from './keys.js';
import { addModelsCommand } from './models.js';
import { addOpenApiCommand } from './openapi.js';
import { addPredictCommand } from './predict.js';
import { addServeCommand } from './serve.js';
import { addUsageCommand } from './usage.js';
import { addVoiceidCommands } from './voiceid.js';

/** Exit codes: 0 all went well, 1 something failed, 2 the command line makes no sense, 3 verify: another speaker. */
const exitCodes = { failure: 1, usage: 2 } as const;

const program = new Command('veravox')
  .description('Tells human from AI-generated voices.')
  .version(packageVersion)
  .showHelpAfterError('(add --help for usage)')
  .addHelpText(
    'after',
    '\nExit codes: 0 all went well, 1 something failed, 2 the command line makes no sense, 3 verify: another speaker.',
  )
  .exitOverride();
addServeCommand(program);
addKeysCommand(program);
addPredictCommand(program);
addUsageCommand(program);
addVoiceidCommands(program);
addEvaluateCommand(program);
addCalibrateCommand(program);
addModelsCommand(program);
addOpenApiCommand(program);
addDoctorCommand(program, packageVersion);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has already written what there is to say; it also throws for --help and --version, with 0.
    process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage;
  } else {
    const { message, stack } = error as Error;
    const isDebugging = ['debug', 'trace'].includes(process.env.VERAVOX_LOG_LEVEL ?? '');
    process.stderr.write(`veravox: ${isDebugging ? stack : message}\n`);
    process.exitCode = exitCodes.failure;
  }
}
