// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import pc from 'picocolors';
import { holds } from '../analysis/known-answers/known-answers.js';
import { checkModels, type ModelCheck, type TimeMs } from '../analysis/known-answers/model-check.js';
import { recordAnswers } from '../analysis/known-answers/record.js';
import { type Model, readManifest, type Tolerances } from '../analysis/models/manifest.js';
import { ManifestError } from '../analysis/models/manifest-error.js';
import { SAMPLE_RATE_HZ } from '../analysis/models/model-audio.js';
import { engineFor } from '../analysis/pipeline/engine.js';
import type { ScoringDevice } from '../analysis/scoring/devices.js';
import { chooseProvider, trialOf } from '../analysis/scoring/provider.js';
import type { Config } from '../base/config/options.js';
import { message, type Shown, shown, styled } from '../base/errors/shown-text.js';
import { localConfig } from '../evaluation/labelled-lists/local-files.js';
import { noteAdminAct } from '../state/records/admin-act.js';
import { numberThat } from './arguments.js';
import { addCalibrateModelCommand } from './models-calibrate.js';
import { addImportCommand } from './models-import.js';
import { print, printJson } from './output.js';
import { textTable } from './text-table.js';

const parseTolerance = numberThat((value) => value > 0 && value < 1, 'a number above 0 and below 1');
const parseRuns = numberThat(
  (value) => Number.isInteger(value) && value >= 1 && value <= 10_000,
  'an integer from 1 to 10000',
);

interface FolderOption {
  readonly modelsDir?: string;
}

interface RecordOptions extends FolderOption {
  readonly tolerance?: number;
  readonly cudaTolerance?: number;
}

export function addModelsCommand(program: Command): void {
  const models = program
    .command('models')
    .description('List, check, import and calibrate the models of a folder, and record their known answers.');
  const withFolder = (command: Command): Command =>
    command.option('--models-dir <folder>', 'folder with manifest.json (default: VERAVOX_MODELS_DIR)');

  withFolder(models.command('list'))
    .description('List the models in the manifest.')
    .option('--json', 'print a line of JSON per model')
    .action(async ({ json, ...options }: FolderOption & { json?: true }) => {
      const { models: listed } = await readManifest(localConfig(options).modelsDir);
      if (json) for (const model of listed) printJson(listedModel(model));
      else print(modelTable(listed));
    });

  withFolder(models.command('check'))
    .description('Check the manifest, the files and the known answers; measure the time per window.')
    .option('--runs <number>', 'timed runs per model', parseRuns, 20)
    .action(async ({ runs, ...options }: FolderOption & { runs: number }) =>
      check(localConfig(options), runs),
    );

  addImportCommand(withFolder(models.command('import')));

  addCalibrateModelCommand(withFolder(models.command('calibrate')));

  withFolder(models.command('record'))
    .description("Write the models' answers and the SHA-256 of their files into the manifest.")
    .argument('[id...]', 'models (default: all)')
    .option('--tolerance <number>', 'largest difference of each number (default: unchanged)', parseTolerance)
    .option('--cuda-tolerance <number>', 'the same if a GPU runs the models', parseTolerance)
    .action(async (ids: string[], options: RecordOptions) => {
      const { tolerance, cudaTolerance, ...folder } = options;
      const given: Tolerances = {
        ...(tolerance !== undefined && { tolerance }),
        ...(cudaTolerance !== undefined && { cuda_tolerance: cudaTolerance }),
      };
      const config = localConfig(folder);
      const recorded = await recordAnswers(config, ids, given);
      await noteAdminAct(config, { event: 'models_recorded', models: recorded.map(({ id }) => id) });
      for (const { id, known_answers = [] } of recorded) {
        print(shown`${id}: recorded the answers for ${known_answers.length} clips\n`);
      }
    });
}

async function check(config: Config, runs: number): Promise<void> {
  let models: readonly Model[];
  try {
    ({ models } = await readManifest(config.modelsDir));
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    error.problems.forEach(printFailed);
    process.exitCode = 1;
    return;
  }
  const choice = await chooseProvider(config, trialOf(config.modelsDir, models[0] as Model));
  const [device] = engineFor(config, choice).devices;
  const checks = await checkModels(config, models, device as ScoringDevice, runs);
  print(
    shown`${checkTable(checks)}\nMedian and 95th percentile of ${runs} runs per 5 s window, one thread, ${choice.provider}.\n`,
  );
  for (const { problems } of checks) problems.forEach(printFailed);
  if (checks.some(({ problems }) => problems.length > 0)) process.exitCode = 1;
}

const printFailed = (problem: string): void =>
  print(shown`${styled(pc.red, 'FAILED')}  ${message(problem, 8)}\n`);

const seconds = (samples: number): string => `${Number((samples / SAMPLE_RATE_HZ).toFixed(4))} s`;

function describeRecipe({ features }: Model): string {
  if (features.kind === 'waveform') return 'waveform';
  return `${features.bands} ${features.scale} bands${features.mean_spectrum_fft_sizes?.length ? ', mean spectrum' : ''}${features.phase_coherence_fft_sizes?.length ? ', phase coherence' : ''}`;
}

const listedModel = (model: Model) => ({
  id: model.id,
  task: model.task,
  file: model.file,
  window_samples: model.window_samples,
  recipe: describeRecipe(model),
  input_shape: model.input.shape,
  licence: model.licence,
  known_answers: model.known_answers?.length ?? 0,
  aliases: model.aliases,
});

function modelTable(models: readonly Model[]): Shown {
  return textTable(
    ['id', 'task', 'file', 'window', 'recipe', 'input', 'licence', '>known answers', 'aliases'],
    models.map((model) => [
      model.id,
      model.task,
      model.file,
      seconds(model.window_samples),
      describeRecipe(model),
      `[${model.input.shape.join(', ')}]`,
      model.licence,
      String(model.known_answers?.length ?? 0),
      model.aliases.join(', '),
    ]),
  );
}

function checkTable(checks: readonly ModelCheck[]): Shown {
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(2);
  const time = (timeMs: TimeMs | undefined): string =>
    timeMs === undefined ? '-' : `${timeMs.median.toFixed(2)} / ${timeMs.p95.toFixed(2)}`;
  return textTable(
    ['model', 'task', '>MB', '>opset', 'made by', '>features ms', '>model ms', '>known answers', 'verdict'],
    checks.map(({ model, file, featuresMs, inferenceMs, answers, problems }) => [
      model.id,
      model.task,
      file === undefined ? '-' : megabytes(file.sizeBytes),
      String(file?.opset ?? '-'),
      file?.producer ?? '-',
      time(featuresMs),
      time(inferenceMs),
      `${answers.filter(holds).length} of ${model.known_answers?.length ?? 0}`,
      verdict(model, problems),
    ]),
  );
}

function verdict({ known_answers = [] }: Model, problems: readonly string[]): string {
  if (problems.length > 0) return 'FAILED';
  return known_answers.length > 0 ? 'ok' : 'ok, but no known answers: run veravox models record';
}
