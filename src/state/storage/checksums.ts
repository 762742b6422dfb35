// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { ServiceError } from '../../base/errors/service-error.js';
import { Crc32c, Crc64Nvme, type RunningChecksum } from './crc-tables.js';
import { PAYLOAD_HEADER } from './signature.js';

class Crc32 implements RunningChecksum {
  #value = 0;

  update(bytes: Uint8Array): void {
    this.#value = crc32(bytes, this.#value);
  }

  digest(): Buffer {
    const digest = Buffer.alloc(4);
    digest.writeUInt32BE(this.#value);
    return digest;
  }
}

const algorithms = {
  crc32: () => new Crc32(),
  crc32c: () => new Crc32c(),
  crc64nvme: () => new Crc64Nvme(),
  md5: () => createHash('md5'),
  sha1: () => createHash('sha1'),
  sha256: () => createHash('sha256'),
  sha512: () => createHash('sha512'),
} satisfies Record<string, () => RunningChecksum>;

export type ChecksumAlgorithm = keyof typeof algorithms;

export const runningChecksum = (algorithm: ChecksumAlgorithm): RunningChecksum => algorithms[algorithm]();

export const isChecksumAlgorithm = (name: string): name is ChecksumAlgorithm =>
  Object.hasOwn(algorithms, name);

/** A checksum that the content of an object must have, as its sender said. */
export interface ExpectedChecksum {
  readonly algorithm: ChecksumAlgorithm;
  /** The sender's header. */
  readonly header: string;
  /** In Base64; asked for once the content is complete, as some come behind it. */
  readonly stated: () => string | undefined;
}

/** Checksums of content as it comes. */
export class ContentChecksums {
  readonly #expected: readonly ExpectedChecksum[];
  readonly #running = new Map<ChecksumAlgorithm, RunningChecksum>();

  /** @param also algorithms that are wanted without being expected */
  constructor(expected: readonly ExpectedChecksum[], also: readonly ChecksumAlgorithm[] = []) {
    this.#expected = expected;
    for (const algorithm of [...also, ...expected.map((checksum) => checksum.algorithm)]) {
      this.#running.set(algorithm, runningChecksum(algorithm));
    }
  }

  update(bytes: Uint8Array): void {
    for (const checksum of this.#running.values()) checksum.update(bytes);
  }

  /** Call it once. @throws ServiceError OBJECT_DIGEST_MISMATCH, OBJECT_HASH_MISMATCH */
  end(): ReadonlyMap<ChecksumAlgorithm, Buffer> {
    const digests = new Map([...this.#running].map(([name, checksum]) => [name, checksum.digest()]));
    for (const { algorithm, header, stated } of this.#expected) {
      if (stated() === digests.get(algorithm)?.toString('base64')) continue;
      if (header === PAYLOAD_HEADER) throw new ServiceError('OBJECT_HASH_MISMATCH');
      throw new ServiceError('OBJECT_DIGEST_MISMATCH', { header });
    }
    return digests;
  }
}
