// SPDX-License-Identifier: Apache-2.0
//
// Decodes recordings for their drawings, as the prepare threads do: away from the main thread, with few system calls.
import { parentPort, workerData } from 'node:worker_threads';
import { inputTextOf } from '../../analysis/models/input-text.js';
import { loadAddon } from '../../base/addon/addon.js';
import { type Outline, OutlineBuilder } from './outline.js';

export interface OutlineTask {
  readonly memory: SharedArrayBuffer;
  readonly offset: number;
  readonly length: number;
}

export type OutlineAnswer = { readonly outline: Outline } | { readonly problem: string };

export interface OutlineWorkerData {
  readonly sandbox: 'auto' | 'required' | 'off';
  readonly maxDurationS: number;
}

const RATE_HZ = 16_000;
const WINDOW_S = 5;
const NO_LIMIT_MS = 2 ** 31 - 1;

const { sandbox, maxDurationS } = workerData as OutlineWorkerData;
const addon = loadAddon();
const preparer = new addon.Preparer(
  inputTextOf({
    sample_rate_hz: RATE_HZ,
    window_samples: WINDOW_S * RATE_HZ,
    hop_samples: WINDOW_S * RATE_HZ,
    short_window: 'repeat',
    features: { kind: 'waveform', input_gain: 1, normalisation: 'none' },
  }),
);
const sandboxFailure = sandbox === 'off' ? undefined : addon.sandboxThisThread();

function outlineOf({ memory, offset, length }: OutlineTask): Outline {
  if (sandbox === 'required' && sandboxFailure !== undefined) throw new Error(sandboxFailure);
  const builder = new OutlineBuilder();
  const detector = new addon.VoiceActivityDetector();
  const samples = new Float32Array(preparer.inputSize);
  const neverStopped = new Int32Array(new SharedArrayBuffer(4));
  const options = { minDurationS: 0, maxDurationS, silenceThresholdPercent: 100, timeLimitMs: NO_LIMIT_MS };
  let takenS = 0;
  try {
    preparer.open(new Uint8Array(memory, offset, length), options, neverStopped);
    for (let input = preparer.next(samples); input !== undefined; input = preparer.next(samples)) {
      // The last window overlaps the one before, and a short one is repeated to its full length.
      const from = Math.round((takenS - input.startS) * RATE_HZ);
      const to = Math.round((input.endS - input.startS) * RATE_HZ);
      const fresh = samples.slice(from, to);
      builder.add(fresh, detector.detect(fresh));
      takenS = input.endS;
    }
    return builder.done();
  } finally {
    preparer.close();
  }
}

parentPort?.on('message', (task: OutlineTask) => {
  let answer: OutlineAnswer;
  try {
    answer = { outline: outlineOf(task) };
  } catch (error) {
    answer = { problem: error instanceof Error ? error.message : String(error) };
  }
  parentPort?.postMessage(answer);
});
