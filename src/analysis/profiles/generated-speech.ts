// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { probabilityOf } from '../../base/log-odds.js';
import type { DetectionModel } from '../models/manifest.js';
import { readChecked } from '../models/model-file.js';
import type { GeneratedSpeech } from './make-profile.js';

/**
 * The vectors of AI-generated speech that come with a detector.
 * @throws Error for a detector without vectors, ManifestError for another file than the manifest's
 */
export async function readGeneratedSpeech(
  modelsDir: string,
  { id, vectors }: Pick<DetectionModel, 'id' | 'vectors'>,
): Promise<GeneratedSpeech> {
  if (vectors === undefined) throw new Error(`${id} shows no vectors, so it cannot have profiles.`);
  const { generated, generated_sha256, numbers, step } = vectors;
  const bytes = await readChecked(join(modelsDir, generated), id, generated_sha256);
  const values = Float32Array.from(
    new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length),
    (byte) => byte * step,
  );
  const rows = Array.from({ length: Math.floor(values.length / (numbers + 1)) }, (_, i) =>
    values.subarray(i * (numbers + 1), (i + 1) * (numbers + 1)),
  );
  return {
    vectors: rows.map((row) => row.subarray(0, numbers)),
    scores: rows.map((row) => probabilityOf(row[numbers] as number)),
  };
}
