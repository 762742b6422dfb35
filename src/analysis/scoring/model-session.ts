// SPDX-License-Identifier: Apache-2.0
import type { CodedSound } from '../../base/addon/addon.js';
import type { DetectionModel, Model } from '../models/manifest.js';
import { inputShapeOf, inputSizeOf, outputSizeOf } from '../models/model-sizes.js';
import { checkUnchanged, type ModelSource } from '../models/model-source.js';
import { withOutputs } from '../models/vector-outputs.js';
import type { ScoringDevice } from './devices.js';
import { checkGraph, checkOutputSize, GraphError } from './graph-check.js';
import { InferenceSession, Tensor } from './onnxruntime.js';
import { toProbability } from './score.js';
import { inTurn } from './turn.js';

/** Shapes are kept to powers of two, so that no provider meets more than a few of them. */
function batchBucket(inputs: number): number {
  return 2 ** Math.ceil(Math.log2(inputs));
}

type VectorOutputs = Pick<NonNullable<DetectionModel['vectors']>, 'outputs' | 'numbers'>;

export type SessionDevice = Omit<ScoringDevice, 'name'>;

/** @param isMapped whether the weights lie in a file of their own, which all threads share */
export function sessionOptions(
  { provider, cudaIndex }: SessionDevice,
  isMapped = false,
): InferenceSession.SessionOptions {
  const threads = { intra_op: { allow_spinning: '0' }, inter_op: { allow_spinning: '0' } };
  return {
    executionProviders: [{ name: provider, ...(cudaIndex !== undefined && { deviceId: cudaIndex }) }],
    graphOptimizationLevel: 'all',
    executionMode: 'sequential',
    // One thread per session: several sessions side by side beat one session with several threads.
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    // GPUs have no 8-bit convolutions: they compute with the values of the 8 bits, worked out while loading. Weights in another
    // order for faster products would be a copy per thread: 14 % faster, for 1.2 GB more of each thread with 300 million
    // parameters (the bench imported-models of commit ad73034).
    extra: {
      session: {
        ...threads,
        ...(provider !== 'cpu' && { disable_quant_qdq: '1' }),
        ...(isMapped && { disable_prepacking: '1' }),
      },
    },
  };
}

/** @throws GraphError when it cannot be loaded */
export async function createSession(
  source: ModelSource,
  model: Pick<Model, 'id' | 'file'> & { readonly vectors?: VectorOutputs | undefined },
  device: SessionDevice,
): Promise<InferenceSession> {
  try {
    if (source instanceof Uint8Array) {
      const file = model.vectors ? withOutputs(source, model.vectors.outputs) : source;
      return await inTurn(device.turn, () => InferenceSession.create(file, sessionOptions(device)));
    }
    const session = await inTurn(device.turn, () =>
      InferenceSession.create(source.path, sessionOptions(device, true)),
    );
    await checkUnchanged(source);
    return session;
  } catch (cause) {
    throw new GraphError(`${model.id}: ${model.file} cannot be loaded: ${(cause as Error).message}`, {
      cause,
    });
  }
}

const vectorsOf = (model: Model): VectorOutputs | undefined =>
  model.task === 'detection' ? model.vectors : undefined;

/** One model loaded in one thread, with the memory for its largest batch. `score` blocks the thread. */
export class ModelSession {
  readonly #session: InferenceSession;
  readonly #model: Model;
  readonly #turn: SharedArrayBuffer | undefined;
  readonly #inputSize: number;
  readonly #batch: Float32Array;
  /** Inputs per inference call at most, a power of two. */
  readonly #maxBatchInputs: number;

  private constructor(
    session: InferenceSession,
    model: Model,
    { turn }: SessionDevice,
    maxBatchInputs: number,
  ) {
    this.#session = session;
    this.#model = model;
    this.#turn = turn;
    this.#inputSize = inputSizeOf(model);
    this.#maxBatchInputs = batchBucket(maxBatchInputs);
    this.#batch = new Float32Array(this.#inputSize * this.#maxBatchInputs);
  }

  /** @throws GraphError if the file differs from the model's entry, or cannot be loaded */
  static async load(source: ModelSource, model: Model, device: SessionDevice, maxBatchInputs: number) {
    const session = await createSession(source, { ...model, vectors: vectorsOf(model) }, device);
    try {
      const { takesOneInput } = checkGraph(model, session.inputMetadata, session.outputMetadata);
      // A CPU is no faster per input with several at once, and onnxruntime sums products of computed matrices, such as those of
      // attention, in an order that depends on the batch: one by one, an answer never depends on other work.
      const isOneByOne = takesOneInput || device.provider === 'cpu';
      return new ModelSession(session, model, device, isOneByOne ? 1 : maxBatchInputs);
    } catch (error) {
      await inTurn(device.turn, () => session.release());
      throw error;
    }
  }

  get inputSize(): number {
    return this.#inputSize;
  }

  /** Numbers of the vector inside the model; 0 if it shows none. */
  get vectorSize(): number {
    return vectorsOf(this.#model)?.numbers ?? 0;
  }

  /** Inputs per inference call at most. */
  get maxBatchInputs(): number {
    return this.#maxBatchInputs;
  }

  /** Runs each batch size once, so that no request pays for it. */
  async warmUp(): Promise<void> {
    for (let inputs = 1; inputs <= this.#maxBatchInputs; inputs *= 2) await this.#infer(inputs);
  }

  /**
   * The model's outputs for each input, one after the other, `outputSizeOf(model)` numbers each (see ScoringResult). Inputs are
   * copied, so their memory may be reused once the promise is settled.
   * @param sounds how the sound of each input was coded
   * @param vectors takes the vectors inside the model, one after the other
   */
  async score(
    inputs: readonly Float32Array[],
    sounds: readonly CodedSound[] = [],
    vectors?: Float32Array,
  ): Promise<Float64Array> {
    const model = this.#model;
    const outputSize = outputSizeOf(model);
    const outputs = new Float64Array(inputs.length * outputSize);
    for (let first = 0; first < inputs.length; first += this.#maxBatchInputs) {
      const batch = inputs.slice(first, first + this.#maxBatchInputs);
      batch.forEach((input, i) => {
        this.#batch.set(input, i * this.#inputSize);
      });
      const size = batchBucket(batch.length);
      const { output, parts } = await this.#infer(size, vectors !== undefined);
      const perInput = output.length / size;
      for (let i = 0; i < batch.length; i++) {
        const numbers = output.subarray(i * perInput, (i + 1) * perInput);
        const answer =
          model.task === 'speaker' ? numbers : [toProbability(numbers, model, sounds[first + i])];
        outputs.set(answer, (first + i) * outputSize);
      }
      if (vectors === undefined) continue;
      for (let i = 0; i < batch.length; i++) {
        let at = (first + i) * this.vectorSize;
        for (const part of parts) {
          const numbers = part.length / size;
          vectors.set(part.subarray(i * numbers, (i + 1) * numbers), at);
          at += numbers;
        }
      }
    }
    return outputs;
  }

  async release(): Promise<void> {
    await inTurn(this.#turn, () => this.#session.release());
  }

  async #infer(inputs: number, wantsVectors = false) {
    const data = this.#batch.subarray(0, inputs * this.#inputSize);
    const { id, input, output } = this.#model;
    const feeds = { [input.name]: new Tensor('float32', data, [inputs, ...inputShapeOf(this.#model)]) };
    const inside = wantsVectors ? (vectorsOf(this.#model)?.outputs ?? []) : [];
    const results = await inTurn(this.#turn, () => this.#session.run(feeds, [output.name, ...inside]));
    const tensor = results[output.name] as Tensor;
    if (tensor.dims[0] !== inputs && inputs > 1) {
      throw new Error(
        `${id}: expected a row per input from the output ${output.name}, but ${inputs} inputs gave [${tensor.dims.join(', ')}].`,
      );
    }
    checkOutputSize(this.#model, tensor.data.length / inputs);
    const parts = inside.map((name) => (results[name] as Tensor).data as Float32Array);
    return { output: tensor.data as Float32Array, parts };
  }
}
