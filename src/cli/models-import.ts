// SPDX-License-Identifier: Apache-2.0
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { loadConfig } from '../base/config/load-config.js';
import { joined, type Shown, shown } from '../base/errors/shown-text.js';
import { noteAdminAct } from '../state/records/admin-act.js';
import { numberThat } from './arguments.js';
import { type Family, families } from './model-import/families.js';
import { type Imported, importModel } from './model-import/import-model.js';
import { print } from './output.js';
import { onStopSignals } from './stop-signals.js';

interface CommandOptions {
  readonly modelsDir?: string;
  readonly python: string;
  readonly id?: string;
  readonly alias: readonly string[];
  readonly licence?: string;
  readonly precision: 'float32' | 'float16';
  readonly spoofIndex?: number;
  readonly heads?: number;
  readonly dilation?: number;
}

const parseCount = numberThat(
  (value) => Number.isInteger(value) && value >= 1 && value <= 1000,
  'an integer from 1 to 1000',
);

export function addImportCommand(command: Command): void {
  const list = Object.entries(families).map(([name, { description }]) => `${name}: ${description}`);
  command
    .description('Add a public detector to a folder of models, from its PyTorch checkpoint.')
    .addArgument(new Argument('<family>', list.join('; ')).choices(Object.keys(families)))
    .argument('<checkpoint>', 'file with the parameters: .pth, .pt, .ckpt or .safetensors')
    .option('--python <program>', 'Python with the packages torch, onnx and numpy', 'python3')
    .option('--id <id>', "id of the model (default: the family and the start of the file's SHA-256)", parseId)
    .addOption(
      new Option('--alias <name>', 'further name for requests; may be given several times')
        .argParser((name: string, before: readonly string[]) => [...before, name])
        .default([], 'none'),
    )
    .option('--licence <text>', "licence of the weights (default: the family's, if known)")
    .addOption(
      new Option('--precision <type>', 'of the encoder').choices(['float32', 'float16']).default('float32'),
    )
    .addOption(
      new Option('--spoof-index <index>', "logit of AI-generated voices (default: the family's)")
        .choices(['0', '1'])
        .argParser(numberThat((value) => value === 0 || value === 1, '0 or 1')),
    )
    .option('--heads <number>', 'attention heads, if the encoder is of no published size', parseCount)
    .option('--dilation <number>', 'of the convolutions of xlsr-nes2net (default: 2)', parseCount)
    .action(runImport);
}

async function runImport(name: string, checkpoint: string, options: CommandOptions): Promise<void> {
  const about = families[name] as Family;
  const config = loadConfig(process.env);
  const stop = new AbortController();
  const abort = (): void => stop.abort(new Error('The import was interrupted. Nothing was imported.'));
  onStopSignals(abort, abort);
  process.on('SIGHUP', abort);
  const { alias, modelsDir = config.modelsDir, licence = about.licence, ...rest } = options;
  const imported = await importModel(
    { ...rest, family: name, checkpoint, about, aliases: alias, modelsDir, licence },
    stop.signal,
  );
  await noteAdminAct(config, { event: 'model_imported', model: imported.model.id });
  print(describe(imported, name, options, modelsDir));
}

function describe(
  { model, report, difference }: Imported,
  family: string,
  { precision }: CommandOptions,
  modelsDir: string,
): Shown {
  const { id, output, window_samples, licence } = model;
  const normalised = report.normalises ? 'normalised in the graph' : 'as they are';
  const folder = `--models-dir ${modelsDir}`;
  const lines = [
    `Imported ${id} (${family}, ${(report.parameters / 1e6).toFixed(1)} million parameters, ${precision}).`,
    `  licence: ${licence}`,
    `  input: ${window_samples} samples at 16 kHz, ${normalised}; logit ${output.index} means AI-generated`,
    `  largest difference from PyTorch's logits: ${difference.toPrecision(2)}`,
    `The networks are written from the papers and have never seen a real checkpoint of this family. Its scores are not`,
    `calibrated. Before you rely on them:`,
    `  veravox models record ${id} ${folder}      # its known answers`,
    `  veravox models check ${folder}             # and its time per window`,
    `  export VERAVOX_MODELS_DIR=${modelsDir}`,
    `  veravox evaluate YOUR-LIST.csv --model ${id}        # AI-generated must score high: else --spoof-index`,
    `  veravox models calibrate ${id} YOUR-LIST.csv        # so that 0.5 and confidence mean something`,
    `  veravox calibrate YOUR-LIST.csv --model ${id} --name strict --target-fpr 0.01`,
  ];
  return shown`${joined(lines, '\n')}\n`;
}

function parseId(text: string): string {
  if (/^[a-z0-9][a-z0-9.-]{0,63}$/.test(text)) return text;
  throw new InvalidArgumentError(
    `Expected up to 64 lower-case letters, digits, dots and hyphens, but received ${text}.`,
  );
}
