// SPDX-License-Identifier: Apache-2.0

/** 128 random bits in hexadecimal digits. Pages from plain HTTP have no `crypto.randomUUID`. */
export const randomId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
