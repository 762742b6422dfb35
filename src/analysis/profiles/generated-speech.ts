// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { probabilityOf } from '../../base/log-odds.js';
import { type DetectionModel, readManifest } from '../models/manifest.js';
import { readChecked } from '../models/model-file.js';
import type { GeneratedSpeech } from './make-profile.js';

/** A detector cannot have profiles. */
export class NoProfiles extends Error {
  override readonly name = 'NoProfiles';
}

/**
 * The vectors of AI-generated speech that come with a detector.
 * @throws NoProfiles for a detector without vectors, ManifestError for another file than the manifest's
 */
export async function readGeneratedSpeech(
  modelsDir: string,
  { id, vectors, calibration }: Pick<DetectionModel, 'id' | 'vectors' | 'calibration'>,
): Promise<GeneratedSpeech> {
  if (vectors === undefined) throw new NoProfiles(`${id} shows no vectors, so it cannot have profiles.`);
  const { generated, generated_sha256, numbers, step } = vectors;
  const bytes = await readChecked(join(modelsDir, generated), id, generated_sha256);
  const values = Float32Array.from(
    new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length),
    (byte) => byte * step,
  );
  const rows = Array.from({ length: Math.floor(values.length / (numbers + 1)) }, (_, i) =>
    values.subarray(i * (numbers + 1), (i + 1) * (numbers + 1)),
  );
  const { scale, bias } = vectors.calibration ?? calibration;
  const logOdds = (ofFile: number): number =>
    (calibration.scale / scale) * (ofFile - bias) + calibration.bias;
  return {
    vectors: rows.map((row) => row.subarray(0, numbers)),
    scores: rows.map((row) => probabilityOf(logOdds(row[numbers] as number))),
  };
}

/**
 * The same for a loaded detector.
 * @throws NoProfiles for a detector without vectors, or one that the manifest no longer has; ManifestError
 */
export async function generatedSpeechOf(modelsDir: string, id: string): Promise<GeneratedSpeech> {
  const { models } = await readManifest(modelsDir);
  const entry = models.find(
    (model): model is DetectionModel => model.task === 'detection' && model.id === id,
  );
  if (entry === undefined) throw new NoProfiles(`${id} is not in the manifest any more.`);
  return readGeneratedSpeech(modelsDir, entry);
}
