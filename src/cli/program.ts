// SPDX-License-Identifier: Apache-2.0
import '../analysis/scoring/telemetry-off.js';
import { Command, CommanderError } from 'commander';
import { packageCommit, packageVersion } from '../base/config/package-dir.js';
import { messageOf } from '../base/errors/message-of.js';
import { message, shown } from '../base/errors/shown-text.js';
import { checkDescriptorsToLoad } from '../service/descriptors-needed.js';
import { say } from './finding.js';
import { addHelpExamples } from './help-examples.js';
import { tell } from './output.js';
import { endOnStopSignals } from './stop-signals.js';

type AddCommand = (program: Command, packageVersion: string) => void;

/** In the order of the help. Loaded on demand: loading them all takes a third of a second. */
const commands: readonly [names: readonly string[], load: () => Promise<AddCommand>][] = [
  [['serve'], async () => (await import('./serve.js')).addServeCommand],
  [['work'], async () => (await import('./work.js')).addWorkCommand],
  [['keys'], async () => (await import('./keys.js')).addKeysCommand],
  [['admin'], async () => (await import('./admin.js')).addAdminCommand],
  [['webhooks'], async () => (await import('./webhooks.js')).addWebhooksCommand],
  [['database'], async () => (await import('./database.js')).addDatabaseCommand],
  [['backup', 'restore'], async () => (await import('./backup.js')).addBackupCommands],
  [['predict'], async () => (await import('./predict.js')).addPredictCommand],
  [['audit'], async () => (await import('./audit.js')).addAuditCommand],
  [['usage'], async () => (await import('./usage.js')).addUsageCommand],
  [['enroll', 'verify', 'identify'], async () => (await import('./voiceid.js')).addVoiceidCommands],
  [['evaluate'], async () => (await import('./evaluate.js')).addEvaluateCommand],
  [['calibrate'], async () => (await import('./calibrate.js')).addCalibrateCommand],
  [['profiles'], async () => (await import('./profiles.js')).addProfilesCommand],
  [['models'], async () => (await import('./models.js')).addModelsCommand],
  [['bench'], async () => (await import('./bench.js')).addBenchCommand],
  [['openapi'], async () => (await import('./openapi.js')).addOpenApiCommand],
  [['doctor'], async () => (await import('./doctor.js')).addDoctorCommand],
];

/**
 * Exit codes of all commands; exit-codes.ts has the others.
 * Shells show 141 for a program that SIGPIPE ended; Node.js ignores that signal.
 */
const exitCodes = { failure: 1, usage: 2, brokenPipe: 141 } as const;

endOnStopSignals();
// `veravox models check | head`: a command can stop once its output is closed. A server cannot, even if the disk that takes
// its output is full.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', ({ code, message: text }: NodeJS.ErrnoException) => {
    if (['serve', 'work'].includes(process.argv[2] ?? '')) return;
    if (code === 'EPIPE') process.exit(exitCodes.brokenPipe);
    if (stream === process.stdout) tell(shown`veravox: The output cannot be written: ${text}\n`);
    process.exit(exitCodes.failure);
  });
}

const program = new Command('veravox')
  .description('Tell human from AI-generated voices.')
  .version(`${packageVersion} (${packageCommit})`)
  .showHelpAfterError('(add --help for usage)')
  .addHelpText(
    'after',
    '\nExit codes: 0 success, 1 failure, 2 usage error, 3 another speaker (verify, identify), 4 an AI-generated voice (enroll, verify, identify) or a result of predict --fail-on, 141 output pipe closed.',
  )
  .configureOutput({
    // It repeats text that it does not understand.
    outputError: (text) => tell(shown`${message(text.trimEnd())}\n`),
  })
  .exitOverride();
const wanted = commands.filter(([names]) => names.includes(process.argv[2] ?? ''));
endWithoutDescriptors();
for (const [, load] of wanted.length > 0 ? wanted : commands) (await load())(program, packageVersion);
addHelpExamples(program);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has already printed the message. It also throws for --help and --version, with 0.
    process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage;
  } else {
    const isDebugging = ['debug', 'trace'].includes(process.env.VERAVOX_LOG_LEVEL ?? '');
    const stack = isDebugging && error instanceof Error ? error.stack : undefined;
    tell(shown`veravox: ${message(stack ?? messageOf(error))}\n`);
    process.exitCode = exitCodes.failure;
  }
}

function endWithoutDescriptors(): void {
  try {
    checkDescriptorsToLoad();
  } catch (error) {
    const { message: text } = error as Error;
    const json = process.argv.includes('--json');
    if (process.argv[2] === 'doctor') say('file descriptors', text, 'failed', json);
    else tell(shown`veravox: ${message(text)}\n`);
    process.exit(exitCodes.failure);
  }
}
