// SPDX-License-Identifier: Apache-2.0
//
// Writes ONNX files of a few nodes by hand (onnx.proto3), so that tests need neither weights nor a library.

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

/** Faults that make a file unservable. */
export interface Oddities {
  readonly elementType?: number;
  /** Allows any size. */
  readonly batch?: number;
  /** Further inputs of the same shape as `features`. */
  readonly moreInputs?: readonly string[];
  /** The file whose first four bytes are a number to add at the end. */
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
  const entry = (key: string, value: string): Field[] => [
    [1, key],
    [2, value],
  ];
  const location = entry('location', file);
  return [
    5,
    [
      [1, 1],
      [2, FLOAT],
      [8, 'weight'],
      [13, location],
      [13, entry('offset', '0')],
      [13, entry('length', '4')],
      [14, 1],
    ],
  ];
}

/**
 * A model that takes the mean over all axes but the batch and `keptAxis`, and then applies unary operators such as `Neg`:
 * of a spectrogram it gives the long-term average spectrum, which distinguishes voices slightly.
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
  const last = names.length - 1;
  const addition: Field[] = [
    [1, 'unweighted'],
    [1, 'weight'],
    [2, 'embedding'],
    [4, 'Add'],
  ];
  if (oddities.weightFile !== undefined) names[last] = 'unweighted';
  const graph: Field[] = [
    node('ReduceMean', 0, meanAttributes),
    ...operators.map((operator, i) => node(operator, i + 1, [])),
    ...(oddities.weightFile === undefined ? [] : [[1, addition] as const]),
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

/**
 * A detector on samples with two logits, each the mean of the samples plus one of the two numbers in `weightFile`.
 */
export function meanDetector(samples: number, weightFile: string): Buffer {
  const entry = (key: string, value: string): Field => [
    13,
    [
      [1, key],
      [2, value],
    ],
  ];
  const weight: Field = [
    5,
    [
      [1, 2],
      [2, FLOAT],
      [8, 'weight'],
      entry('location', weightFile),
      entry('offset', '0'),
      entry('length', '8'),
      [14, 1],
    ],
  ];
  const axes: Field = [
    5,
    [
      [1, 'axes'],
      [8, 1],
      [20, ATTRIBUTE_INTS],
    ],
  ];
  const graph: Field[] = [
    [1, [[1, 'waveform'], [2, 'mean'], [4, 'ReduceMean'], axes]],
    [
      1,
      [
        [1, 'mean'],
        [1, 'weight'],
        [2, 'logits'],
        [4, 'Add'],
      ],
    ],
    [2, 'detector'],
    weight,
    [11, tensor('waveform', [samples], {})],
    [12, tensor('logits', [2], {})],
  ];
  const opset: Field[] = [
    [1, ''],
    [2, 13],
  ];
  return message([
    [1, 8],
    [7, graph],
    [8, opset],
  ]);
}
