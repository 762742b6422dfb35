// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import type { SpeakerModel } from './manifest.js';

// Object members in one order, so that moving them about in the manifest changes nothing.
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    member !== null && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

/**
 * Identifies a speaker model's way from audio to embedding: the weights and everything in the manifest that changes an
 * embedding. Names, calibration and figures do not.
 */
export function fingerprintOf(model: SpeakerModel): string {
  const {
    sha256,
    weights_sha256,
    sample_rate_hz,
    window_samples,
    hop_samples,
    short_window,
    features,
    input,
    output,
  } = model;
  const parts = {
    sha256,
    weights_sha256,
    sample_rate_hz,
    window_samples,
    hop_samples,
    short_window,
    features,
    input,
    output,
  };
  return createHash('sha256').update(canonical(parts)).digest('hex');
}
