// SPDX-License-Identifier: Apache-2.0

const boundary = 'veravox-bench-boundary';

export const formType = `multipart/form-data; boundary=${boundary}`;

/** A multipart body with one part, the file. */
export function formBody(file: Uint8Array): Buffer {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="clip"\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]);
}
