// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DetectionModel } from '../models/manifest.js';
import { ManifestError } from '../models/manifest-error.js';
import { scoreOf } from './correction.js';
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
  const { generated, generated_sha256: expected, numbers, step } = vectors;
  const path = join(modelsDir, generated);
  const bytes = await readFile(path);
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== expected) {
    throw new ManifestError([`${path}: expected the SHA-256 ${expected} of ${id} but found ${found}.`]);
  }
  const values = Float32Array.from(
    new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length),
    (byte) => byte * step,
  );
  const rows = Array.from({ length: Math.floor(values.length / (numbers + 1)) }, (_, i) =>
    values.subarray(i * (numbers + 1), (i + 1) * (numbers + 1)),
  );
  return {
    vectors: rows.map((row) => row.subarray(0, numbers)),
    scores: rows.map((row) => scoreOf(row[numbers] as number)),
  };
}
