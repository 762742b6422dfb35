// SPDX-License-Identifier: Apache-2.0

const boundary = 'veravox-bench-boundary';

export const formType = `multipart/form-data; boundary=${boundary}`;

export interface FormOptions {
  readonly fileField?: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** A multipart body with fields, then the file. */
export function formBody(file: Uint8Array, { fileField = 'file', fields = {} }: FormOptions = {}): Buffer {
  const open = `--${boundary}\r\nContent-Disposition: form-data`;
  const texts = Object.entries(fields).map(([name, value]) => `${open}; name="${name}"\r\n\r\n${value}\r\n`);
  const head = `${texts.join('')}${open}; name="${fileField}"; filename="clip"\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]);
}
