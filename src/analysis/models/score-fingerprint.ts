// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { canonical } from './fingerprint.js';
import type { Model } from './manifest.js';

type Entry = Model & {
  readonly abstention?: unknown;
  readonly strangers?: unknown;
  readonly vectors?: unknown;
};

/**
 * Identifies a model's way from audio to the calibrated score: the weights and every entry of the manifest but names, licence,
 * twin for GPUs, figures, known answers, operating point, abstention, vectors and strangers. If it differs, a threshold found before
 * means something else.
 * @returns 64 hexadecimal characters
 */
export function scoreFingerprintOf(model: Model): string {
  const {
    id,
    aliases,
    file,
    weights_file,
    gpu,
    licence,
    operating_point,
    abstention,
    strangers,
    vectors,
    known_answers,
    metrics,
    training,
    ...parts
  }: Entry = model;
  return createHash('sha256').update(canonical(parts)).digest('hex');
}
