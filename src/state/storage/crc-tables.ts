// SPDX-License-Identifier: Apache-2.0
//
// The cyclic redundancy checks of S3 that Node.js lacks. Both shift to the right, and begin and end inverted.

/** A checksum that is computed piece by piece. */
export interface RunningChecksum {
  update(bytes: Uint8Array): unknown;
  digest(): Buffer;
}

/** Castagnoli's polynomial (RFC 3720, appendix B.4), its bits reversed. */
const POLYNOMIAL_32C = 0x82f63b78;
/** That of the NVM Express command set, its bits reversed. */
const POLYNOMIAL_64 = 0x9a6c9329ac4bc9b5n;

const table32c = Int32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? POLYNOMIAL_32C : 0);
  return value;
});

const table64 = Array.from({ length: 256 }, (_, byte) => {
  let value = BigInt(byte);
  for (let bit = 0; bit < 8; bit++) value = (value >> 1n) ^ (value & 1n ? POLYNOMIAL_64 : 0n);
  return value;
});
// Two halves: BigInt would take a hundred times as long per byte.
const high64 = Int32Array.from(table64, (value) => Number(value >> 32n));
const low64 = Int32Array.from(table64, (value) => Number(value & 0xffffffffn));

export class Crc32c implements RunningChecksum {
  #value = -1;

  update(bytes: Uint8Array): void {
    let value = this.#value;
    for (let i = 0; i < bytes.length; i++) {
      value = (value >>> 8) ^ (table32c[(value ^ (bytes[i] as number)) & 0xff] as number);
    }
    this.#value = value;
  }

  digest(): Buffer {
    const digest = Buffer.alloc(4);
    digest.writeInt32BE(~this.#value);
    return digest;
  }
}

export class Crc64Nvme implements RunningChecksum {
  #high = -1;
  #low = -1;

  update(bytes: Uint8Array): void {
    let high = this.#high;
    let low = this.#low;
    for (let i = 0; i < bytes.length; i++) {
      const index = (low ^ (bytes[i] as number)) & 0xff;
      low = ((low >>> 8) | (high << 24)) ^ (low64[index] as number);
      high = (high >>> 8) ^ (high64[index] as number);
    }
    this.#high = high;
    this.#low = low;
  }

  digest(): Buffer {
    const digest = Buffer.alloc(8);
    digest.writeInt32BE(~this.#high);
    digest.writeInt32BE(~this.#low, 4);
    return digest;
  }
}
