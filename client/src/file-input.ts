// SPDX-License-Identifier: Apache-2.0

/** Bytes that come one after another: a `ReadableStream`, a Node stream, a generator. */
export type ByteStream = AsyncIterable<Uint8Array>;

export interface StreamInput {
  /** A function is called once per try, so that a refused upload can be tried again; a stream can be read only once. */
  readonly stream: ByteStream | (() => ByteStream);
  /** If it is known, the server reserves only this much memory; object storage insists on it. */
  readonly sizeBytes?: number | undefined;
}

/** A file to upload. `openAsBlob` of `node:fs` makes a Blob of a file without reading it into memory. */
export type FileInput = Blob | Uint8Array | ArrayBuffer | ByteStream | StreamInput;

/** The content of an upload, in one shape. */
export interface FileSource {
  /** Undefined when only the end of the stream will tell. */
  readonly sizeBytes: number | undefined;
  readonly isReplayable: boolean;
  /** The name that the input carries, such as that of a File. */
  readonly filename: string | undefined;
  open(): ByteStream;
  /** The whole of it, for web pages, which cannot stream. The browser collects a stream, where it likes. */
  asBlob(): Promise<Blob>;
}

/** One after the other. Shared memory, which a Blob does not take, is not among them. */
export const blobOf = (pieces: readonly (Blob | Uint8Array)[]): Blob =>
  new Blob(pieces as (Blob | Uint8Array<ArrayBuffer>)[]);

/** Small enough for progress to be seen, large enough not to matter. */
const SLICE_BYTES = 64 * 1024;

async function* slices(bytes: Uint8Array): ByteStream {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) yield bytes.subarray(at, at + SLICE_BYTES);
}

/** Ends an upload whose length differs from the one in the request's head. */
async function* counted(stream: ByteStream, sizeBytes: number): ByteStream {
  let sentBytes = 0;
  for await (const chunk of stream) {
    sentBytes += chunk.length;
    if (sentBytes > sizeBytes) break;
    yield chunk;
  }
  if (sentBytes !== sizeBytes) {
    const received = sentBytes > sizeBytes ? 'more' : String(sentBytes);
    throw new RangeError(`Expected ${sizeBytes} bytes from the stream but received ${received}.`);
  }
}

function sourceOfBytes(bytes: Uint8Array): FileSource {
  return {
    sizeBytes: bytes.length,
    isReplayable: true,
    filename: undefined,
    open: () => slices(bytes),
    asBlob: async () => blobOf([bytes]),
  };
}

function sourceOfStream({ stream, sizeBytes }: StreamInput): FileSource {
  const begin = typeof stream === 'function' ? stream : () => stream;
  const open = (): ByteStream => (sizeBytes === undefined ? begin() : counted(begin(), sizeBytes));
  return {
    sizeBytes,
    isReplayable: typeof stream === 'function',
    filename: undefined,
    open,
    asBlob: async () => {
      const pieces: Blob[] = [];
      for await (const piece of open()) pieces.push(blobOf([piece]));
      return blobOf(pieces);
    },
  };
}

export function sourceOf(input: FileInput): FileSource {
  if (input instanceof Blob) {
    return {
      sizeBytes: input.size,
      isReplayable: true,
      filename: 'name' in input && typeof input.name === 'string' ? input.name : undefined,
      open: () => input.stream(),
      asBlob: async () => input,
    };
  }
  if (input instanceof Uint8Array) return sourceOfBytes(input);
  if (input instanceof ArrayBuffer) return sourceOfBytes(new Uint8Array(input));
  return sourceOfStream(Symbol.asyncIterator in input ? { stream: input } : input);
}
