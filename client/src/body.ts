// SPDX-License-Identifier: Apache-2.0
import { type ByteStream, blobOf, type FileSource } from './file-input.js';
import { randomId } from './random-id.js';

export interface UploadProgress {
  /** Bytes of the file that were handed to the network. */
  readonly sentBytes: number;
  /** Undefined for a stream of unknown size. */
  readonly totalBytes: number | undefined;
}

export type OnUploadProgress = (progress: UploadProgress) => void;

/** The body of a request, which can be sent again if it is replayable. */
export interface RequestBody {
  readonly contentType: string;
  readonly sizeBytes: number | undefined;
  readonly isReplayable: boolean;
  open(): string | ByteStream;
  /** How a web page sends it; undefined if `open` gives a text. */
  readonly whole?: WholeBody;
}

export interface WholeBody {
  asBlob(): Promise<Blob>;
  /** @param sentBytes of the whole body */
  onSent(sentBytes: number): void;
}

export type FieldValues = Readonly<Record<string, unknown>>;

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** As the HTML standard has it, and as every server reads it. */
const quoted = (name: string): string =>
  `"${name.replace(/["\r\n]/g, (character) => encodeURIComponent(character))}"`;

/** @param value any value that JSON has */
export function jsonBody(value: unknown): RequestBody {
  const text = JSON.stringify(value);
  return { contentType: 'application/json', sizeBytes: undefined, isReplayable: true, open: () => text };
}

async function* reported(file: FileSource, onProgress: OnUploadProgress | undefined): ByteStream {
  let sentBytes = 0;
  for await (const chunk of file.open()) {
    yield chunk;
    sentBytes += chunk.length;
    onProgress?.({ sentBytes, totalBytes: file.sizeBytes });
  }
}

export function fileBody(file: FileSource, onProgress?: OnUploadProgress): RequestBody {
  return {
    contentType: 'application/octet-stream',
    sizeBytes: file.sizeBytes,
    isReplayable: file.isReplayable,
    open: () => reported(file, onProgress),
    whole: {
      asBlob: () => file.asBlob(),
      onSent: (sentBytes) => onProgress?.({ sentBytes, totalBytes: file.sizeBytes }),
    },
  };
}

export interface FormFile {
  readonly field: string;
  readonly filename: string;
  readonly source: FileSource;
}

/** A form with its fields before the files, which are never held in memory as a whole. */
export function formBody(
  files: readonly FormFile[],
  fields: FieldValues,
  onProgress?: OnUploadProgress,
): RequestBody {
  const boundary = `veravox-${randomId()}`;
  const texts = Object.entries(fields).map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name=${quoted(name)}\r\n\r\n${value}\r\n`,
  );
  const parts = files.map(({ field, filename, source }, i) => {
    const disposition = `form-data; name=${quoted(field)}; filename=${quoted(filename)}`;
    const head = bytesOf(
      `${i === 0 ? texts.join('') : '\r\n'}--${boundary}\r\nContent-Disposition: ${disposition}\r\n` +
        'Content-Type: application/octet-stream\r\n\r\n',
    );
    return { head, source };
  });
  const tail = bytesOf(`\r\n--${boundary}--\r\n`);
  const sizes = parts.map(({ head, source: { sizeBytes = Number.NaN } }) => head.length + sizeBytes);
  const sizeBytes = sizes.reduce((sum, size) => sum + size, tail.length);
  async function* open(): ByteStream {
    for (const { head, source } of parts) {
      yield head;
      yield* reported(source, onProgress);
    }
    yield tail;
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    sizeBytes: Number.isNaN(sizeBytes) ? undefined : sizeBytes,
    isReplayable: files.every(({ source }) => source.isReplayable),
    open,
    whole: wholeForm(parts, tail, onProgress),
  };
}

/** Tells the progress of each file from zero. */
function wholeForm(
  parts: readonly { readonly head: Uint8Array; readonly source: FileSource }[],
  tail: Uint8Array,
  onProgress: OnUploadProgress | undefined,
): WholeBody {
  let blobs: readonly Blob[] = [];
  return {
    async asBlob() {
      blobs = await Promise.all(parts.map(({ source }) => source.asBlob()));
      return blobOf([...parts.flatMap(({ head }, i) => [head, blobs[i] as Blob]), tail]);
    },
    onSent(sentBytes) {
      let before = 0;
      for (const [i, { size }] of blobs.entries()) {
        const sentOfFile = sentBytes - before - (parts[i]?.head.length ?? 0);
        if (sentOfFile < 0) return;
        before += size + (parts[i]?.head.length ?? 0);
        const isCurrent = sentBytes <= before || i === blobs.length - 1;
        if (isCurrent) onProgress?.({ sentBytes: Math.min(sentOfFile, size), totalBytes: size });
      }
    },
  };
}
