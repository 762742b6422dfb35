// SPDX-License-Identifier: Apache-2.0
import { type Command, Option } from 'commander';
import pc from 'picocolors';
import type { AnalysisRequest, ScoreAdjustment } from '../analysis/analyser/analyser.js';
import { analyseChannels } from '../analysis/analyser/separate-channels.js';
import { adjustmentOf } from '../analysis/profiles/correction.js';
import { predictionBody } from '../analysis/verdict/prediction.js';
import {
  DEFAULT_SILENCE_THRESHOLD_PERCENT,
  DEFAULT_THRESHOLD,
  MIN_DURATION_S,
} from '../base/contract/limits.js';
import type { Prediction } from '../base/contract/prediction.js';
import { newPredictionId } from '../base/contract/prediction-id.js';
import { messageOf } from '../base/errors/message-of.js';
import { inOrder } from '../evaluation/labelled-lists/in-flight.js';
import { ListPipeline } from '../evaluation/labelled-lists/list-pipeline.js';
import { localConfig, maxDurationS } from '../evaluation/labelled-lists/local-files.js';
import { pointsForThreshold } from '../state/operating-points/load-operating-points.js';
import { anyTime, parseThreshold, requireRegion, silenceHelp, thresholdHelp, within } from './arguments.js';
import { exitCodes } from './exit-codes.js';
import { reportFailure } from './failed-file.js';
import { localDetector } from './local-detector.js';
import { type NamedInput, namedInputs } from './named-inputs.js';
import { loadOfflinePages } from './offline-pages.js';
import { print, printJson, progressOutput } from './output.js';
import { predictionTable, runSummary } from './prediction-table.js';
import { ProgressLine, showListProgress } from './progress-line.js';
import { readStandardInput, STANDARD_INPUT } from './standard-input.js';
import type { Outline } from './timeline/outline.js';
import { Outliner } from './timeline/outliner.js';
import { TimelineFiles } from './timeline/timeline-files.js';

interface PredictOptions {
  readonly json?: true;
  readonly windows?: true;
  readonly html?: string;
  readonly model?: string;
  readonly threshold: number | string;
  readonly profile?: string;
  readonly silenceThreshold: number;
  readonly start?: number;
  readonly end?: number;
  readonly channels: 'mixed' | 'separate';
  readonly detail?: 'stretches';
  readonly failOn?: Prediction['global']['result'];
}

/** With the model that is meant, by its name and its exact id, and the threshold as a number. */
interface ResolvedOptions extends PredictOptions {
  readonly model: string;
  readonly modelId: string;
  readonly threshold: number;
  readonly adjustScore: ScoreAdjustment | undefined;
}

interface Found {
  /** With all details, for people. */
  readonly prediction: Prediction;
  /** As the server would answer. */
  readonly answer: Prediction;
  /** For a page; undefined without one, and if it could not be made. */
  readonly outline: Outline | undefined;
}

type Outcome = Found | { readonly error: unknown };

/** Makes pages of the findings. */
interface Timelines {
  readonly outliner: Outliner;
  readonly files: TimelineFiles;
}

export function addPredictCommand(program: Command): void {
  program
    .command('predict')
    .argument(
      '<file...>',
      'files, folders, quoted patterns such as "calls/**/*.wav", or - for standard input',
    )
    .description('Analyse files without a server, with the same pipeline.')
    .option(
      '--json',
      'print the answers of the server, one line per file, with its name as "file" and the exact model as "model_id"',
    )
    .option('--windows', 'print every window, even of long files')
    .option(
      '--html <file or folder>',
      'write timelines: a single page if the name ends in .html, otherwise a folder with a page per file',
    )
    .option(
      '--model <id>',
      'detector, by its exact id or an alias (default: that of requests without a model)',
    )
    .option('--threshold <number or name>', thresholdHelp, parseThreshold, DEFAULT_THRESHOLD)
    .option('--profile <name>', 'correct scores by a profile of the model: see veravox profiles')
    .option('--silence-threshold <percent>', silenceHelp, within(0, 100), DEFAULT_SILENCE_THRESHOLD_PERCENT)
    .option('--start <seconds>', 'analyse from here on', anyTime)
    .option('--end <seconds>', 'analyse up to here', anyTime)
    .addOption(
      new Option('--channels <how>', 'with "separate", also print a verdict on each channel')
        .choices(['mixed', 'separate'])
        .default('mixed'),
    )
    .addOption(
      new Option(
        '--detail <what>',
        'with "stretches", --json also says whether and where there is AI-generated speech',
      ).choices(['stretches']),
    )
    .addOption(
      new Option(
        '--fail-on <result>',
        `exit code ${exitCodes.unwantedResult} if a recording, or one of its separate channels, has this result`,
      ).choices(['spoofed', 'bonafide']),
    )
    .action(predict);
}

async function predict(given: string[], options: PredictOptions, command: Command): Promise<void> {
  requireRegion(options, command);
  if (options.html !== undefined && (options.start ?? options.end) !== undefined) {
    command.error('error: Expected either --html, which shows whole recordings, or --start and --end.');
  }
  const config = localConfig();
  const points = await pointsForThreshold(config, options.threshold, options.profile);
  const inputs = await namedInputs(given);
  const files =
    options.html === undefined ? undefined : new TimelineFiles(options.html, await loadOfflinePages());
  const contents = new Map<string, Uint8Array>();
  if (given.includes(STANDARD_INPUT)) contents.set(STANDARD_INPUT, await readStandardInput());
  const recordings = inputs.filter(({ problem }) => problem === undefined).map(({ file }) => [file]);
  const { model, detector, models } = await localDetector(config.modelsDir, options.model);
  const threshold = points.thresholdOf(options.threshold, detector, '--threshold');
  const adjustScore =
    options.profile === undefined
      ? undefined
      : adjustmentOf(points.correctionOf(options.profile, detector, '--profile'));
  const resolved = { ...options, threshold, model, modelId: detector.id, adjustScore };
  const pipeline = await ListPipeline.start(config, recordings, contents, { models });
  const timelines = files && { files, outliner: new Outliner(config, maxDurationS) };
  try {
    await predictAll(pipeline, inputs, resolved, timelines);
    files?.close();
  } finally {
    await Promise.all([pipeline.close(), timelines?.outliner.close()]);
  }
}

/** Analyses files in parallel and prints the findings in their order. */
async function predictAll(
  pipeline: ListPipeline,
  inputs: readonly NamedInput[],
  options: ResolvedOptions,
  timelines: Timelines | undefined,
): Promise<void> {
  const isOneFile = inputs.length === 1;
  const progress = showListProgress(inputs.length);
  const counts = { spoofed: 0, bonafide: 0, failed: 0 };
  await inOrder(
    inputs,
    pipeline.inFlight,
    async ({ file, problem }): Promise<Outcome> => {
      try {
        if (problem !== undefined) throw new Error(problem);
        return await predictFile(file, pipeline, options, isOneFile, timelines?.outliner);
      } catch (error) {
        return { error };
      }
    },
    (outcome, { file }) => {
      progress.clear();
      if ('error' in outcome) {
        reportFailure(file, outcome.error, options.json);
        process.exitCode = 1;
        counts.failed++;
        timelines?.files.add({ file, problem: messageOf(outcome.error, file) });
      } else {
        const { prediction, answer, outline } = outcome;
        const { modelId, threshold } = options;
        timelines?.files.add({ file, prediction, outline, modelId, threshold });
        counts[prediction.global.result]++;
        if (options.failOn !== undefined && resultsIn(prediction).includes(options.failOn)) {
          // A failure stays one: not everything was judged.
          process.exitCode ??= exitCodes.unwantedResult;
        }
        if (options.json) printJson({ file, model_id: options.modelId, ...answer });
        else print(predictionTable(file, { ...prediction, model: options.modelId }, pc, options.windows));
      }
      if (!isOneFile) progress.add('error' in outcome);
    },
  );
  progress.clear();
  if (!isOneFile && !options.json) print(runSummary(counts, pc));
}

/** Results of the recording and of its separate channels; a channel without speech has none. */
const resultsIn = ({ global, channels = [] }: Prediction): (string | undefined)[] => [
  global.result,
  ...channels.map((channel) => channel.global?.result),
];

async function predictFile(
  file: string,
  pipeline: ListPipeline,
  {
    model,
    threshold,
    adjustScore,
    profile,
    silenceThreshold: silenceThresholdPercent,
    start,
    end,
    channels,
    detail,
  }: ResolvedOptions,
  showsProgress: boolean,
  outliner: Outliner | undefined,
): Promise<Found> {
  return pipeline.withRegion([file], async (region) => {
    const startedMs = performance.now();
    const progress = new ProgressLine(progressOutput, file);
    const plan: AnalysisRequest = {
      region,
      model,
      silenceThresholdPercent,
      adjustScore,
      minDurationS: MIN_DURATION_S,
      maxDurationS,
      ...(start !== undefined && { startS: start }),
      ...(end !== undefined && { endS: end }),
      signal: new AbortController().signal,
      ...(showsProgress && { onProgress: (current) => progress.show(current) }),
    };
    const { analyser } = pipeline;
    const analyse = async () => {
      const analysis = await analyser.analyse(plan);
      const separate = channels === 'separate' ? await analyseChannels(analyser, plan, analysis) : undefined;
      return { analysis, separate };
    };
    const { analysis, separate } = await analyse().finally(() => progress.clear());
    const request = {
      model,
      predictionId: newPredictionId(),
      threshold,
      silenceThresholdPercent,
      profile,
      channels: separate,
    };
    const elapsedS = (performance.now() - startedMs) / 1000;
    const prediction = predictionBody(analysis, { ...request, detail: 'stretches' }, elapsedS);
    const answer = detail === undefined ? predictionBody(analysis, request, elapsedS) : prediction;
    // A page without its waveform is better than none.
    const outline = await outliner?.outline({ memory: pipeline.memory, ...region }).catch(() => undefined);
    return { prediction, answer, outline };
  });
}
