// SPDX-License-Identifier: Apache-2.0
//
// The files of a model. Weights inside the ONNX file are kept in memory from the check on. Weights in a file of their own may
// have any size: ONNX Runtime maps them into memory itself, once for all threads, and the file must stay as it was checked.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { forGpu } from './gpu-twin.js';
import { type Manifest, type Model, readManifest } from './manifest.js';
import { ManifestError } from './manifest-error.js';
import { type ModelSource, stampOf } from './model-source.js';
import { type OnnxHeader, readOnnxHeader } from './onnx-header.js';

export interface ModelFile {
  readonly source: ModelSource;
  readonly header: OnnxHeader;
  /** Graph and weights. */
  readonly sizeBytes: number;
}

type FileFields = Pick<Model, 'id' | 'file' | 'sha256' | 'weights_file' | 'weights_sha256'>;

/**
 * Reads and checks `manifest.json` in `modelsDir`, and the SHA-256 of each file that it names.
 * @throws ManifestError
 */
export async function loadManifest(modelsDir: string): Promise<Manifest> {
  const manifest = await readManifest(modelsDir);
  for (const model of manifest.models) {
    await readModelFile(modelsDir, model);
    if (model.gpu !== undefined) await readModelFile(modelsDir, forGpu(model));
  }
  return manifest;
}

/**
 * A model's files, if they match its entry.
 * @throws ManifestError
 */
export async function readModelFile(modelsDir: string, model: FileFields): Promise<ModelFile> {
  const path = join(modelsDir, model.file);
  const bytes = await readChecked(path, model.id, model.sha256);
  const header = readOnnxHeader(bytes);
  if (header.weightsFiles.length === 0) {
    if (model.weights_file !== undefined) {
      throw new ManifestError([
        `${path} of ${model.id} holds its own weights, but its entry names ${model.weights_file}.`,
      ]);
    }
    return { source: bytes, header, sizeBytes: bytes.length };
  }
  const name = weightsFileOf(path, header);
  if (model.weights_file !== name || model.weights_sha256 === undefined) {
    throw new ManifestError([
      `${path}: the weights lie in ${name}, but the entry of ${model.id} does not vouch for it: expected weights_file and weights_sha256. veravox models record writes both.`,
    ]);
  }
  const files = { path, weightsPath: join(modelsDir, name) };
  // Before the check, so that a change during it is also noticed.
  const stamp = await stampOf(files);
  checkSha256(files.weightsPath, model.id, model.weights_sha256, await sha256OfFile(files.weightsPath));
  const { size } = await stat(files.weightsPath);
  return { source: { ...files, stamp }, header, sizeBytes: bytes.length + size };
}

/**
 * The name of the one file with the weights.
 * @throws ManifestError if there are several, or one elsewhere
 */
export function weightsFileOf(path: string, { weightsFiles }: OnnxHeader): string {
  const [name = '', ...others] = weightsFiles;
  if (others.length === 0 && /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) return name;
  throw new ManifestError([
    `${path}: expected all weights in one file beside it, but they lie in ${weightsFiles.map((file) => `"${file}"`).join(', ')}.`,
  ]);
}

/** A file that the manifest vouches for. @param id of the model. @throws ManifestError for another file */
export async function readChecked(path: string, id: string, sha256: string): Promise<Buffer> {
  const bytes = await readFile(path);
  checkSha256(path, id, sha256, createHash('sha256').update(bytes).digest('hex'));
  return bytes;
}

/** In pieces: the file may be larger than the memory. */
export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(piece as Buffer);
  return hash.digest('hex');
}

function checkSha256(path: string, id: string, expected: string, found: string): void {
  if (found === expected) return;
  throw new ManifestError([`${path}: expected the SHA-256 ${expected} of ${id} but found ${found}.`]);
}
