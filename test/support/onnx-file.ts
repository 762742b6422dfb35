// SPDX-License-Identifier: Apache-2.0
//
// Writes ONNX files of a few nodes by hand (onnx.proto3), so that tests need neither weights nor a library for it.

type Field = readonly [number: number, value: number | string | readonly Field[]];

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest & 127) | 128);
    rest >>>= 7;
  }
  return Buffer.from([...bytes, rest]);
}

function message(fields: readonly Field[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      if (typeof value === 'number') return [varint(number << 3), varint(value)];
      const content = typeof value === 'string' ? Buffer.from(value) : message(value);
      return [varint((number << 3) | 2), varint(content.length), content];
    }),
  );
}

const FLOAT = 1;
export const FLOAT16 = 10;
const ATTRIBUTE_INT = 2;
const ATTRIBUTE_INTS = 7;

/** What makes a file one that cannot be served. */
export interface Oddities {
  readonly elementType?: number;
  /** A size instead of any. */
  readonly batch?: number;
  /** Inputs beside `features`, of the same shape. */
  readonly moreInputs?: readonly string[];
  /** The file in which a weight, which nobody uses, is said to lie. */
  readonly weightFile?: string;
}

function tensor(name: string, shape: readonly number[], { elementType, batch }: Oddities): readonly Field[] {
  const batchAxis: Field = typeof batch === 'number' ? [1, batch] : [2, 'batch'];
  const dimensions: Field[] = [[1, [batchAxis]], ...shape.map((size): Field => [1, [[1, size]]])];
  const type: Field = [
    1,
    [
      [1, elementType ?? FLOAT],
      [2, dimensions],
    ],
  ];
  return [
    [1, name],
    [2, [type]],
  ];
}

function externalWeight(file: string): Field {
  const location: Field[] = [
    [1, 'location'],
    [2, file],
  ];
  return [
    5,
    [
      [1, 1],
      [2, FLOAT],
      [8, 'weight'],
      [13, location],
      [14, 1],
    ],
  ];
}

/**
 * A model that takes the mean over all axes but the batch and `keptAxis`, and then applies unary operators such as `Neg`:
 * of a spectrogram it gives the long-term average spectrum, which does tell voices apart a little.
 */
export function meanModel(
  inputShape: readonly number[],
  keptAxis: number,
  operators: readonly string[] = [],
  oddities: Oddities = {},
): Buffer {
  const axes = inputShape.map((_, i) => i + 1).filter((axis) => axis !== keptAxis);
  const names = ['features', ...operators.map((_, i) => `value${i}`), 'embedding'];
  const node = (operator: string, i: number, attributes: readonly Field[]): Field => [
    1,
    [[1, names[i] as string], [2, names[i + 1] as string], [4, operator], ...attributes],
  ];
  const meanAttributes: Field[] = [
    [5, [[1, 'axes'], ...axes.map((axis): Field => [8, axis]), [20, ATTRIBUTE_INTS]]],
    [
      5,
      [
        [1, 'keepdims'],
        [3, 0],
        [20, ATTRIBUTE_INT],
      ],
    ],
  ];
  const graph: Field[] = [
    node('ReduceMean', 0, meanAttributes),
    ...operators.map((operator, i) => node(operator, i + 1, [])),
    [2, 'mean'],
    ...(oddities.weightFile === undefined ? [] : [externalWeight(oddities.weightFile)]),
    ...['features', ...(oddities.moreInputs ?? [])].map(
      (name): Field => [11, tensor(name, inputShape, oddities)],
    ),
    [12, tensor('embedding', [inputShape[keptAxis - 1] as number], oddities)],
  ];
  return message([
    [1, 8],
    [7, graph],
    [
      8,
      [
        [1, ''],
        [2, 13],
      ],
    ],
  ]);
}
