// SPDX-License-Identifier: Apache-2.0
import type { CodedSound } from '../../base/addon/addon.js';
import { logOddsOf, probabilityOf } from '../../base/log-odds.js';
import { codecOffset } from '../models/codec-offset.js';
import type { DetectionModel } from '../models/manifest.js';

// The log-odds of one class against all others, from a softmax layer's inputs.
function logOddsOfClass(logits: Float32Array, index: number): number {
  const others = logits.filter((_, i) => i !== index);
  const largest = Math.max(...others);
  return (
    (logits[index] as number) - largest - Math.log(others.reduce((sum, x) => sum + Math.exp(x - largest), 0))
  );
}

/**
 * The probability of being AI-generated, from a model's output for one input: one number, or one per class. `sound` is the
 * coding of the input's audio. NaN if the output is not finite.
 */
export function toProbability(
  output: Float32Array,
  model: Pick<DetectionModel, 'output' | 'calibration'>,
  sound: CodedSound = {},
): number {
  const { kind, index } = model.output;
  if (!output.every(Number.isFinite)) return Number.NaN;
  let logit: number;
  if (kind === 'probability') {
    logit = logOddsOf(output[index] as number);
  } else if (kind === 'independent_logit' || output.length === 1) {
    logit = output[index] as number;
  } else {
    logit = logOddsOfClass(output, index);
  }
  const { scale, bias, codecs } = model.calibration;
  return probabilityOf(scale * logit + bias + codecOffset(codecs, sound));
}
