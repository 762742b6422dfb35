// SPDX-License-Identifier: Apache-2.0

/** The facts in an ONNX file besides its graph. */
export interface OnnxHeader {
  /** The program that wrote it; empty if it does not say. */
  readonly producer: string;
  /** Version of ONNX's own operators; undefined if it uses none. */
  readonly opset: number | undefined;
  /** The other files in which tensors' numbers lie, as the file names them. */
  readonly weightsFiles: readonly string[];
}

interface Field {
  readonly number: number;
  /** Of a variable-length integer. */
  readonly value: number;
  /** Of anything that has a length: text or another message. */
  readonly bytes: Uint8Array;
}

const noBytes = new Uint8Array(0);
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

// Protocol Buffers, as far as ONNX uses them. protobufjs would be a runtime dependency and a schema for three facts, and
// would decode the weights as well; a file that is read wrongly here is refused by ONNX Runtime or by its known answers.
function* fieldsOf(message: Uint8Array): Generator<Field> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = message[at++];
      if (byte === undefined) throw new Error('The file is not an ONNX file, or is incomplete.');
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const key = varint();
    const field = { number: Math.floor(key / 8), value: 0, bytes: noBytes };
    switch (key % 8) {
      case 0:
        yield { ...field, value: varint() };
        break;
      case 1:
        at += 8;
        break;
      case 5:
        at += 4;
        break;
      case 2: {
        const length = varint();
        if (at + length > message.length) throw new Error('The file is not an ONNX file, or is incomplete.');
        yield { ...field, bytes: message.subarray(at, at + length) };
        at += length;
        break;
      }
      default:
        throw new Error('The file is not an ONNX file.');
    }
  }
}

// The fields of a message that hold messages with tensors in them (onnx.proto).
const holders = {
  model: { 7: 'graph', 25: 'function' },
  graph: { 1: 'node', 5: 'tensor' },
  function: { 7: 'node' },
  node: { 5: 'attribute' },
  attribute: { 5: 'tensor', 6: 'graph', 10: 'tensor', 11: 'graph' },
} as const;
const DATA_LOCATION = 14;
const EXTERNAL = 1;
const EXTERNAL_DATA = 13;
const KEY = 1;
const VALUE = 2;

function collectWeightsFiles(
  kind: keyof typeof holders | 'tensor',
  message: Uint8Array,
  found: Set<string>,
): void {
  if (kind === 'tensor') {
    const location = locationOf(message);
    if (location !== undefined) found.add(location);
    return;
  }
  for (const { number, bytes } of fieldsOf(message)) {
    const inner = (holders[kind] as Readonly<Record<number, keyof typeof holders | 'tensor'>>)[number];
    if (inner !== undefined) collectWeightsFiles(inner, bytes, found);
  }
}

/** Undefined if the tensor has its numbers with it; empty if it does not name the file that has them. */
function locationOf(tensor: Uint8Array): string | undefined {
  const fields = [...fieldsOf(tensor)];
  if (!fields.some(({ number, value }) => number === DATA_LOCATION && value === EXTERNAL)) return undefined;
  for (const { bytes } of fields.filter(({ number }) => number === EXTERNAL_DATA)) {
    const members = new Map([...fieldsOf(bytes)].map((member) => [member.number, text(member.bytes)]));
    if (members.get(KEY) === 'location') return members.get(VALUE) ?? '';
  }
  return '';
}

const PRODUCER_NAME = 2;
const PRODUCER_VERSION = 3;
const OPSET_IMPORT = 8;

/** @throws Error when the bytes are no ONNX file */
export function readOnnxHeader(file: Uint8Array): OnnxHeader {
  const producer: string[] = [];
  let opset: number | undefined;
  for (const { number, bytes } of fieldsOf(file)) {
    if (number === PRODUCER_NAME || number === PRODUCER_VERSION) {
      producer.push(text(bytes));
    } else if (number === OPSET_IMPORT) {
      const members = [...fieldsOf(bytes)];
      const domain = text(members.find((member) => member.number === 1)?.bytes ?? noBytes);
      if (domain === '' || domain === 'ai.onnx') opset = members.find((member) => member.number === 2)?.value;
    }
  }
  const weightsFiles = new Set<string>();
  collectWeightsFiles('model', file, weightsFiles);
  return { producer: producer.join(' '), opset, weightsFiles: [...weightsFiles] };
}
