// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { EMBEDDING_SIZE, inputShapeOf, inputSizeOf, type Model } from '../models/manifest.js';
import { toProbability } from './score.js';
import type { Provider } from './scoring-task.js';

/** Shapes are kept to powers of two, so that no provider meets more than a few of them. */
export function batchBucket(inputs: number): number {
  return 2 ** Math.ceil(Math.log2(inputs));
}

function sessionOptions(provider: Provider): InferenceSession.SessionOptions {
  return {
    executionProviders: [provider],
    graphOptimizationLevel: 'all',
    executionMode: 'sequential',
    // One thread per session: several sessions side by side beat one session with several threads.
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    extra: { session: { intra_op: { allow_spinning: '0' }, inter_op: { allow_spinning: '0' } } },
  };
}

/** One model loaded in one thread, with the memory for its largest batch. `run` blocks the thread. */
export class ModelSession {
  readonly #session: InferenceSession;
  readonly #model: Model;
  readonly #inputSize: number;
  readonly #batch: Float32Array;

  private constructor(session: InferenceSession, model: Model, maxBatchInputs: number) {
    this.#session = session;
    this.#model = model;
    this.#inputSize = inputSizeOf(model);
    this.#batch = new Float32Array(this.#inputSize * batchBucket(maxBatchInputs));
  }

  static async load(modelsDir: string, model: Model, provider: Provider, maxBatchInputs: number) {
    const session = await InferenceSession.create(join(modelsDir, model.file), sessionOptions(provider));
    return new ModelSession(session, model, maxBatchInputs);
  }

  get inputSize(): number {
    return this.#inputSize;
  }

  /** Runs each batch size once, so that no request pays for it. */
  async warmUp(): Promise<void> {
    const largest = this.#batch.length / this.#inputSize;
    for (let inputs = 1; inputs <= largest; inputs *= 2) await this.#infer(inputs);
  }

  /**
   * The model's numbers for each input, one after the other (see ScoringResult). Inputs are copied, so their memory may
   * be reused once the promise is settled.
   */
  async score(inputs: readonly Float32Array[]): Promise<Float64Array> {
    inputs.forEach((input, i) => {
      this.#batch.set(input, i * this.#inputSize);
    });
    const model = this.#model;
    const output = await this.#infer(batchBucket(inputs.length));
    if (model.task === 'speaker')
      return Float64Array.from(output.subarray(0, inputs.length * EMBEDDING_SIZE));
    const perInput = output.length / batchBucket(inputs.length);
    return Float64Array.from(inputs, (_, i) =>
      toProbability(output.subarray(i * perInput, (i + 1) * perInput), model),
    );
  }

  async release(): Promise<void> {
    await this.#session.release();
  }

  async #infer(inputs: number): Promise<Float32Array> {
    const data = this.#batch.subarray(0, inputs * this.#inputSize);
    const { input, output } = this.#model;
    const results = await this.#session.run({
      [input.name]: new Tensor('float32', data, [inputs, ...inputShapeOf(this.#model)]),
    });
    const tensor = results[output.name];
    if (!(tensor?.data instanceof Float32Array) || tensor.data.length % inputs !== 0) {
      throw new Error(
        `Expected a float32 output named ${output.name} with a row per input from ${this.#model.id}.`,
      );
    }
    if (this.#model.task === 'speaker' && tensor.data.length !== inputs * EMBEDDING_SIZE) {
      throw new Error(
        `Expected ${EMBEDDING_SIZE} numbers per input from ${this.#model.id} but received ${tensor.data.length / inputs}.`,
      );
    }
    return tensor.data;
  }
}
