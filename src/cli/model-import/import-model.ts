// SPDX-License-Identifier: Apache-2.0
//
// This room is `veravox models import`: it has PyTorch convert a checkpoint to ONNX, compares both
// outputs, and adds the model to a models folder.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { checkManifest, type Model, manifestPath, readManifest } from '../../analysis/models/manifest.js';
import { sha256OfFile } from '../../analysis/models/model-file.js';
import { packageDir } from '../../base/config/package-dir.js';
import { replaceFileLater, syncFolderLater } from '../../state/data-folder/durable-file.js';
import { FileLock } from '../../state/data-folder/file-lock.js';
import { largestDifference, tolerances } from './comparison.js';
import { type ConversionOptions, type ConversionReport, convert } from './conversion.js';
import type { Family } from './families.js';

export interface ImportOptions extends Omit<ConversionOptions, 'name'> {
  readonly modelsDir: string;
  readonly about: Family;
  /** By default the family and the beginning of the checkpoint's SHA-256. */
  readonly id?: string;
  readonly aliases: readonly string[];
  readonly licence: string;
  /** Instead of the family's. */
  readonly spoofIndex?: number;
}

export interface Imported {
  readonly model: Model;
  readonly report: ConversionReport;
  readonly difference: number;
}

const LOCK_FILE = '.import.lock';
const TEMPORARY_PREFIX = '.import-';
const WINDOW_SAMPLES = 80_000;
const SHA256_DIGITS_IN_ID = 8;

/**
 * Adds a detector to a folder of models. Files are made in a folder of their own, tried, and moved into place before the
 * manifest names them: whatever happens, the manifest names complete files only, and nothing else is left behind.
 */
export async function importModel(options: ImportOptions, signal: AbortSignal): Promise<Imported> {
  const modelsDir = resolve(options.modelsDir);
  if (modelsDir === resolve(packageDir, 'models')) {
    throw new Error(
      `${modelsDir} belongs to veravox, and an update replaces it. Import into a folder of your own: --models-dir my-models, or VERAVOX_MODELS_DIR.`,
    );
  }
  const checkpoint = resolve(options.checkpoint);
  const checkpointSha256 = await checkpointDigest(checkpoint);
  const id = options.id ?? `${options.family}-${checkpointSha256.slice(0, SHA256_DIGITS_IN_ID)}`;
  await mkdir(modelsDir, { recursive: true });
  const lock = FileLock.tryTake(join(modelsDir, LOCK_FILE));
  if (lock === undefined) throw new Error(`Another import into ${modelsDir} is running.`);
  try {
    await removeLeftovers(modelsDir);
    const draft = entryOf(id, options);
    await checkNames(modelsDir, draft);
    await checkRoom(modelsDir, checkpoint);
    const folder = await mkdtemp(join(modelsDir, TEMPORARY_PREFIX));
    try {
      const report = await convert({ ...options, checkpoint, name: id }, folder, signal);
      const model = await completeEntry(folder, draft, report, options, checkpointSha256);
      const difference = await largestDifference(folder, model, report);
      checkDifference(difference, options.precision);
      signal.throwIfAborted();
      await publish(modelsDir, folder, model);
      return { model, report, difference };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  } finally {
    lock.release();
  }
}

async function checkpointDigest(path: string): Promise<string> {
  const found = await stat(path);
  if (!found.isFile()) throw new Error(`${path} is not a file. Name the checkpoint itself.`);
  return sha256OfFile(path);
}

/** Of an import that was killed: nobody else has the lock. */
async function removeLeftovers(modelsDir: string): Promise<void> {
  const names = await readdir(modelsDir);
  for (const name of names.filter((other) => other.startsWith(TEMPORARY_PREFIX) && other !== LOCK_FILE)) {
    await rm(join(modelsDir, name), { recursive: true, force: true });
  }
}

function entryOf(id: string, { aliases, licence }: ImportOptions) {
  return {
    id,
    aliases: [...aliases],
    task: 'detection' as const,
    file: `${id}.onnx`,
    licence,
    sample_rate_hz: 16_000 as const,
    short_window: 'repeat' as const,
    // Exactly as in training: normalisation is in the graph.
    features: { kind: 'waveform' as const, input_gain: 1, normalisation: 'none' as const },
    calibration: { scale: 1, bias: 0 },
    operating_point: 0.5,
    metrics: {},
  };
}
type Draft = ReturnType<typeof entryOf>;

async function checkNames(modelsDir: string, { id, aliases, file }: Draft): Promise<void> {
  if (!existsSync(manifestPath(modelsDir))) return;
  const { models } = await readManifest(modelsDir);
  for (const name of [id, ...aliases]) {
    const holder = models.find((model) => model.id === name || model.aliases.includes(name));
    if (holder !== undefined) {
      throw new Error(
        `${manifestPath(modelsDir)}: ${holder.id} has the name ${name} already. An id stands for the same weights for ever: choose another with --id or --alias, or remove that entry.`,
      );
    }
  }
  const holder = models.find((model) => model.file === file || model.weights_file === `${file}.data`);
  if (holder !== undefined) throw new Error(`${file} is a file of ${holder.id}. Choose another --id.`);
}

/** The files of the model are at most as large as the checkpoint and its graph. */
async function checkRoom(modelsDir: string, checkpoint: string): Promise<void> {
  const { size } = await stat(checkpoint);
  const { bavail, bsize } = await statfs(modelsDir);
  const neededBytes = size + 50e6;
  if (bavail * bsize >= neededBytes) return;
  const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6)} MB`;
  throw new Error(
    `The disk with ${modelsDir} has ${megabytes(bavail * bsize)} left; the model may need ${megabytes(neededBytes)}.`,
  );
}

async function completeEntry(
  folder: string,
  draft: Draft,
  report: ConversionReport,
  options: ImportOptions,
  checkpointSha256: string,
): Promise<Model> {
  const { family, precision, about } = options;
  const file = join(folder, draft.file);
  const hasWeightsFile = existsSync(`${file}.data`);
  const { window_samples } = report;
  const entry = {
    ...draft,
    sha256: await sha256OfFile(file),
    ...(hasWeightsFile && {
      weights_file: `${draft.file}.data`,
      weights_sha256: await sha256OfFile(`${file}.data`),
    }),
    window_samples,
    // Two inputs for a window of 5 s, from its beginning and to its end.
    hop_samples: window_samples < WINDOW_SAMPLES ? WINDOW_SAMPLES - window_samples : window_samples,
    input: { name: 'waveform', shape: ['batch', window_samples] },
    output: { name: 'logits', kind: 'logit', index: options.spoofIndex ?? report.spoof_index },
    training: {
      family,
      paper: about.paper,
      precision,
      parameters: report.parameters,
      samples_normalised_in_graph: report.normalises,
      checkpoint_sha256: checkpointSha256,
    },
  };
  const [model] = checkManifest('The new entry', { version: 1, models: [entry] }).models;
  return model as Model;
}

function checkDifference(difference: number, precision: ConversionOptions['precision']): void {
  if (difference <= tolerances[precision]) return;
  throw new Error(
    `The ONNX file gives other logits than PyTorch: they differ by ${difference.toPrecision(2)}, and at most ${tolerances[precision]} is right for ${precision}. Nothing was imported.`,
  );
}

async function publish(modelsDir: string, folder: string, model: Model): Promise<void> {
  // The weights first: a graph without them cannot be loaded.
  const files = [model.weights_file, model.file].filter((name) => name !== undefined);
  for (const name of files) {
    await synced(join(folder, name));
    await rename(join(folder, name), join(modelsDir, name));
  }
  await syncFolderLater(modelsDir);
  const path = manifestPath(modelsDir);
  try {
    // Read again: another command may have changed it while the model was converted.
    const before = existsSync(path) ? JSON.parse(await readFile(path, 'utf8')) : { version: 1, models: [] };
    const manifest = checkManifest(path, { ...before, models: [...before.models, model] });
    await replaceFileLater(path, `${JSON.stringify(manifest, null, 2)}\n`);
  } catch (error) {
    for (const name of files) await rm(join(modelsDir, name), { force: true });
    throw error;
  }
}

async function synced(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
