// SPDX-License-Identifier: Apache-2.0

export const BOUNDARY = 'the-boundary';
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

export interface FormEntry {
  readonly name: string;
  readonly content: string | Uint8Array;
  /** Makes the part a file. */
  readonly filename?: string;
}

/** The bytes of a form, written by hand so that tests do not depend on a client library's choices. */
export function formBody(entries: readonly FormEntry[]): Buffer {
  const parts = entries.flatMap(({ name, content, filename }) => {
    const file =
      filename === undefined ? '' : `; filename="${filename}"\r\nContent-Type: application/octet-stream`;
    const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`;
    return [Buffer.from(head), Buffer.from(content as Uint8Array), Buffer.from('\r\n')];
  });
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

export const fileEntry = (content: string | Uint8Array): FormEntry => ({
  name: 'file',
  content,
  filename: 'a.wav',
});

/** Random-looking bytes, the same every time. */
export function noise(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length);
  let state = seed;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}
