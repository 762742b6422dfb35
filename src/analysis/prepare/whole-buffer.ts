// SPDX-License-Identifier: Apache-2.0

/** Whether nothing else can be in the array's buffer. */
export const isWhole = ({ byteLength, buffer }: Uint8Array): boolean => byteLength === buffer.byteLength;
