// SPDX-License-Identifier: Apache-2.0
import { EMBEDDING_SIZE } from '../../base/contract/limits.js';
import type { Model } from '../models/manifest.js';
import type { InferenceSession } from './onnxruntime.js';

type Metadata = readonly InferenceSession.ValueMetadata[];
type TensorMetadata = InferenceSession.TensorValueMetadata;

/** A file's inputs and outputs do not fit the manifest; the message names those of the file. */
export class GraphError extends Error {
  override readonly name = 'GraphError';
}

function shapeText(shape: readonly (number | string)[]): string {
  return `[${shape.join(', ')}]`;
}

function listing(values: Metadata): string {
  return values
    .map((value) =>
      value.isTensor ? `${value.name} ${value.type} ${shapeText(value.shape)}` : `${value.name}, no tensor`,
    )
    .join('; ');
}

const isFixed = (size: number | string | undefined): size is number => typeof size === 'number' && size >= 0;

function tensorNamed(name: string, what: 'input' | 'output', values: Metadata, id: string): TensorMetadata {
  const value = values.find((candidate) => candidate.name === name);
  if (value === undefined) {
    throw new GraphError(`${id}: expected an ${what} named ${name}, but the file has ${listing(values)}.`);
  }
  if (!value.isTensor || value.type !== 'float32') {
    throw new GraphError(`${id}: expected an ${what} of float32, but the file has ${listing([value])}.`);
  }
  return value;
}

/**
 * Compares an ONNX file's inputs and outputs with a model's entry. Returns whether the file takes one input at a time only.
 * @throws GraphError
 */
export function checkGraph(model: Model, inputs: Metadata, outputs: Metadata): { takesOneInput: boolean } {
  const { id } = model;
  const input = tensorNamed(model.input.name, 'input', inputs, id);
  if (inputs.length > 1) {
    throw new GraphError(`${id}: expected a single input, but the file has ${listing(inputs)}.`);
  }
  const [batch, ...axes] = input.shape;
  const [, ...wanted] = model.input.shape;
  const fits = axes.length === wanted.length && axes.every((size, i) => !isFixed(size) || size === wanted[i]);
  // A shape that the file leaves open is an empty one here.
  if (input.shape.length > 0 && !fits) {
    throw new GraphError(
      `${id}: expected an input of ${shapeText(model.input.shape)}, but the file has ${listing([input])}.`,
    );
  }
  if (isFixed(batch) && batch !== 1) {
    throw new GraphError(
      `${id}: expected a batch axis that is dynamic or 1, but the file has ${listing([input])}.`,
    );
  }
  const output = tensorNamed(model.output.name, 'output', outputs, id);
  const perInput = output.shape.slice(1);
  if (output.shape.length > 0 && perInput.every(isFixed)) {
    checkOutputSize(
      model,
      perInput.reduce((product, size) => product * size, 1),
    );
  }
  return { takesOneInput: isFixed(batch) };
}

/**
 * Whether a model with this many numbers per input can be served.
 * @throws GraphError
 */
export function checkOutputSize({ id, task, output }: Model, numbers: number): void {
  if (task === 'speaker' && numbers !== EMBEDDING_SIZE) {
    throw new GraphError(
      `${id}: expected ${EMBEDDING_SIZE} numbers per input from a speaker model, as every voiceprint has, but its output ${output.name} has ${numbers}. Only a detector may have an output of another size.`,
    );
  }
  if (task === 'detection' && output.index >= numbers) {
    throw new GraphError(
      `${id}: expected more than ${output.index} numbers per input for output.index, but its output ${output.name} has ${numbers}.`,
    );
  }
}
