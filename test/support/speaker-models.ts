// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { DetectionModel, Manifest, SpeakerModel } from '../../src/analysis/models/manifest.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import { meanModel } from './onnx-file.js';
import { tinyEntry, writeManifest } from './tiny-models.js';

export const shippedModelsDir = path.join(packageDir, 'models');
const shipped = JSON.parse(fs.readFileSync(path.join(shippedModelsDir, 'manifest.json'), 'utf8')) as Manifest;

function shippedDetector(): DetectionModel {
  const detector = shipped.models.find((model) => model.task === 'detection');
  if (detector === undefined) throw new Error('The manifest lists no detector.');
  // The twin for GPUs and the clips of the known answers stay in place.
  const { gpu: _, known_answers: __, ...entry } = detector;
  return entry;
}

interface SpeakerSettings {
  readonly id?: string;
  /** Unary ONNX operators after the mean: a different one makes a different model. */
  readonly operators?: readonly string[];
  readonly bands?: number;
}

/** An entry and its file: the long-term average spectrum as embedding, with a matching calibration. */
export function averageSpectrum({
  id = 'average-spectrum',
  operators = [],
  bands = 256,
}: SpeakerSettings = {}) {
  const shape = [1, bands, 498];
  const file = meanModel(shape, 2, operators);
  const { features, abstention: _, vectors: _vectors, ...detector } = shippedDetector();
  const entry = {
    ...detector,
    id,
    aliases: [],
    task: 'speaker',
    file: `${id}.onnx`,
    sha256: createHash('sha256').update(file).digest('hex'),
    window_samples: 80000,
    hop_samples: 80000,
    features: {
      ...features,
      bands,
      audible_only: false,
      mean_spectrum_fft_sizes: [],
      phase_coherence_fft_sizes: [],
    },
    input: { name: 'features', shape: ['batch', ...shape] },
    output: { name: 'embedding', kind: 'embedding', index: 0 },
    // Cosines of the recordings in test/fixtures.
    calibration: { scale: 40, bias: -36 },
    operating_point: 0.5,
    metrics: {},
  } as unknown as SpeakerModel;
  return { entry, file };
}

/** A models folder in `folder`: the shipped detector, with another bias if given, and the speaker models. */
export function writeModels(
  folder: string,
  speakers: readonly ReturnType<typeof averageSpectrum>[],
  detectorBias?: number,
): string {
  const detector = shippedDetector();
  fs.symlinkSync(path.join(shippedModelsDir, detector.file), path.join(folder, detector.file));
  for (const { entry, file } of speakers) fs.writeFileSync(path.join(folder, entry.file), file);
  const calibration = { ...detector.calibration, ...(detectorBias !== undefined && { bias: detectorBias }) };
  const models = [{ ...detector, calibration }, ...speakers.map(({ entry }) => entry)];
  fs.writeFileSync(path.join(folder, 'manifest.json'), JSON.stringify({ version: 1, models }));
  return folder;
}

/** The same with a tiny detector, whose bias decides: by default, everybody is human. */
export function writeTinyVoices(folder: string, speakers = [averageSpectrum()], detectorBias = -30): string {
  const detector = { ...tinyEntry(folder, 'tiny', 'even'), calibration: { scale: 1, bias: detectorBias } };
  for (const { entry, file } of speakers) fs.writeFileSync(path.join(folder, entry.file), file);
  writeManifest(folder, [detector, ...speakers.map(({ entry }) => entry)]);
  return folder;
}
