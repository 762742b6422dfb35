// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { packageDir } from '../../base/config/package-dir.js';
import { replaceFileLater } from '../../state/data-folder/durable-file.js';
import type { Analyser } from '../analyser/analyser.js';
import { forGpu } from '../models/gpu-twin.js';
import { checkManifest, type Model, manifestPath, type Tolerances } from '../models/manifest.js';
import { sha256OfFile, weightsFileOf } from '../models/model-file.js';
import { readOnnxHeader } from '../models/onnx-header.js';
import { type PipelineConfig, startPipeline } from '../pipeline/pipeline.js';
import { answerOf } from './known-answers.js';

const clipsFolder = 'known-answers';
const shippedClips = join(packageDir, 'models', clipsFolder);
const decimals = 6;

/** An entry as it stands in the file: anything may be missing yet. */
export type Entry = Readonly<Record<string, unknown>>;

/**
 * Writes into the manifest the facts that follow from a model's file: its SHA-256 and its answer for each clip in the folder
 * `known-answers`, which is filled with the shipped clips if it is missing. Answers are those of the CPU. An entry may still
 * lack both. Returns the models whose entries were written: those with one of these ids, or all.
 * @param given tolerances; each clip keeps those left out here
 * @param change the change to each of these entries before its model answers
 * @throws ManifestError if the manifest has other faults, the errors of `change`, and Error if one of these entries changes
 * meanwhile; then the manifest stays as it was
 */
export async function recordAnswers(
  config: PipelineConfig,
  ids: readonly string[],
  given: Tolerances = {},
  change: (entry: Entry) => Entry = (entry) => entry,
): Promise<Model[]> {
  const { modelsDir } = config;
  const path = manifestPath(modelsDir);
  const { version, models: entries } = await readEntries(path);
  const namesIn = ({ id, aliases }: Entry): unknown[] => [id, aliases].flat();
  const unknown = ids.find((id) => !entries.some((entry) => namesIn(entry).includes(id)));
  if (unknown !== undefined) throw new Error(`${path}: there is no model with the id or alias ${unknown}.`);
  const isWanted = (entry: Entry): boolean =>
    ids.length === 0 || ids.some((id) => namesIn(entry).includes(id));

  const drafts = await Promise.all(
    entries.map(async (entry) => (isWanted(entry) ? change(await draftOf(entry, modelsDir)) : entry)),
  );
  const models = checkManifest(path, { version, models: drafts }).models.filter((model) =>
    isWanted(model as unknown as Entry),
  );
  const clips = await clipsIn(modelsDir);
  const answers = await answersOfAll(config, models, clips, given);
  const { cuda_tolerance } = given;
  const onGpu = cuda_tolerance === undefined ? {} : { cuda_tolerance };
  const twins = models.filter(({ gpu }) => gpu !== undefined).map(forGpu);
  const answersOfTwins = await answersOfAll(config, twins, clips, onGpu);
  // Read again: another command may have changed it while the models answered, which takes minutes for large ones.
  const now = await readEntries(path);
  const whole = now.models.map((entry) => {
    const known = answers.get(entry.id);
    if (known === undefined) return entry;
    const draft = drafts[entries.findIndex((before) => isDeepStrictEqual(before, entry))];
    if (draft === undefined)
      throw new Error(`${path}: ${entry.id} changed while it was recorded. Try again.`);
    // Before the figures, which are long.
    const { gpu, metrics, training, ...rest } = draft;
    const ofTwin = answersOfTwins.get(entry.id);
    const twin = ofTwin && { gpu: { ...(gpu as object), known_answers: ofTwin } };
    return { ...rest, known_answers: known, ...twin, metrics, training };
  });
  const manifest = checkManifest(path, { ...now, models: whole });
  // Whole or not at all: a server may be reading it.
  await replaceFileLater(path, `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest.models.filter(({ id }) => answers.has(id));
}

async function readEntries(path: string): Promise<{ version: unknown; models: readonly Entry[] }> {
  const found = JSON.parse(await readFile(path, 'utf8'));
  // Anything else than a list has faults that are reported with their field.
  if (!Array.isArray(found.models)) checkManifest(path, found);
  return found;
}

async function draftOf(given: Entry, modelsDir: string): Promise<Entry> {
  if (typeof given.file !== 'string') return given;
  const entry = await withTwin(given, modelsDir);
  const path = join(modelsDir, given.file);
  const bytes = await readFile(path);
  const header = readOnnxHeader(bytes);
  const { weights_file: _, weights_sha256: __, ...rest } = entry;
  const draft = { ...rest, sha256: createHash('sha256').update(bytes).digest('hex') };
  if (header.weightsFiles.length === 0) return draft;
  const name = weightsFileOf(path, header);
  return { ...draft, weights_file: name, weights_sha256: await sha256OfFile(join(modelsDir, name)) };
}

async function withTwin(entry: Entry, modelsDir: string): Promise<Entry> {
  const { file, ...rest } = (entry.gpu ?? {}) as Entry;
  if (typeof file !== 'string') return entry;
  return { ...entry, gpu: { file, ...rest, sha256: await sha256OfFile(join(modelsDir, file)) } };
}

/** By the id of the model. */
async function answersOfAll(
  config: PipelineConfig,
  models: readonly Model[],
  clips: readonly string[],
  given: Tolerances,
): Promise<ReadonlyMap<unknown, readonly object[]>> {
  const answers = new Map<unknown, readonly object[]>();
  if (models.length === 0) return answers;
  const analyser = await startPipeline({ ...config, device: 'cpu' }, new SharedArrayBuffer(0), { models });
  try {
    for (const model of models) {
      answers.set(model.id, await answersOf(analyser, model, config.modelsDir, clips, given));
    }
  } finally {
    await analyser.close();
  }
  return answers;
}

async function answersOf(
  analyser: Analyser,
  model: Model,
  modelsDir: string,
  clips: readonly string[],
  given: Tolerances,
) {
  const before = new Map(model.known_answers?.map((answer): [string, Tolerances] => [answer.file, answer]));
  const answers: object[] = [];
  for (const file of clips) {
    const numbers = await answerOf(analyser, model, await readFile(join(modelsDir, file)));
    const rounded = numbers.map((number) => Number(number.toFixed(decimals)));
    const { tolerance, cuda_tolerance } = { ...before.get(file), ...given };
    answers.push({
      file,
      ...(model.task === 'detection' ? { scores: rounded } : { embedding: rounded }),
      ...(tolerance !== undefined && { tolerance }),
      ...(cuda_tolerance !== undefined && { cuda_tolerance }),
    });
  }
  return answers;
}

async function clipsIn(modelsDir: string): Promise<string[]> {
  const folder = join(modelsDir, clipsFolder);
  const isNew = (await mkdir(folder, { recursive: true })) !== undefined;
  if (isNew) {
    for (const file of await readdir(shippedClips))
      await copyFile(join(shippedClips, file), join(folder, file));
  }
  const files = await readdir(folder);
  return files
    .filter((file) => !file.endsWith('.md'))
    .sort()
    .map((file) => `${clipsFolder}/${file}`);
}
