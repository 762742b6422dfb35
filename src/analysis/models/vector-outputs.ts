// SPDX-License-Identifier: Apache-2.0

const FLOAT = 1;
/** Field numbers of onnx.proto. */
const fields = { modelGraph: 7, graphOutput: 12, valueName: 1, valueType: 2, tensorType: 1, elementType: 1 };

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];

const block = (field: number, content: readonly number[]): number[] => [
  ...varint(field * 8 + 2),
  ...varint(content.length),
  ...content,
];

const outputNamed = (name: string): number[] =>
  block(fields.graphOutput, [
    ...block(fields.valueName, [...Buffer.from(name)]),
    ...block(fields.valueType, block(fields.tensorType, [fields.elementType * 8, FLOAT])),
  ]);

/**
 * An ONNX file with tensors inside its graph as further outputs. A second graph in a protobuf message adds to the first, so the
 * file on disk, and with it the model's SHA-256, stays as it is.
 */
export function withOutputs(file: Uint8Array, names: readonly string[]): Uint8Array {
  return Buffer.concat([file, Buffer.from(block(fields.modelGraph, names.flatMap(outputNamed)))]);
}
