// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import type { SignatureV4 } from '@smithy/signature-v4';
import { once } from '../../base/once.js';
import { s3Signer } from './signature.js';
import { type Credentials, fileIn, readSecretsAnew, type StorageSecrets } from './storage-secrets.js';

/** A flood of requests with unknown ids must not cost a system call each. */
const LOOK_EVERY_MS = 100;

export interface SigningPair extends Credentials {
  /** Loads a library. */
  readonly signer: () => Promise<SignatureV4>;
}

/** The pairs of `storage.json`: the first signs, and the signatures of all are valid. */
export class SigningCredentials {
  readonly #dataDir: string | undefined;
  readonly #accountSecret: string;
  #pairs: ReadonlyMap<string, SigningPair>;
  #current: SigningPair;
  #changedMs: number;
  /** Of the last search for an unknown id. */
  #lookedMs = Number.NEGATIVE_INFINITY;

  /** @param dataDir of the file, from which they can be renewed */
  constructor(secrets: StorageSecrets, dataDir?: string) {
    this.#dataDir = dataDir;
    this.#changedMs = this.#fileChangedMs();
    this.#accountSecret = secrets.accountSecret;
    [this.#current, this.#pairs] = pairsOf(secrets);
  }

  get current(): SigningPair {
    return this.#current;
  }

  find(accessKeyId: string): SigningPair | undefined {
    return this.#pairs.get(accessKeyId) ?? this.#findAnew(accessKeyId);
  }

  /** @throws Error that says what is wrong with the file; nothing changes then */
  renew(): void {
    if (this.#dataDir === undefined) return;
    const changedMs = this.#fileChangedMs();
    [this.#current, this.#pairs] = pairsOf(readSecretsAnew(this.#dataDir, this.#accountSecret));
    this.#changedMs = changedMs;
  }

  /** Of several processes, one may sign with a new pair before the signal has reached the others. */
  #findAnew(accessKeyId: string): SigningPair | undefined {
    const nowMs = performance.now();
    if (nowMs - this.#lookedMs < LOOK_EVERY_MS) return undefined;
    this.#lookedMs = nowMs;
    if (this.#fileChangedMs() === this.#changedMs) return undefined;
    try {
      this.renew();
    } catch {
      // The signal tells of it.
      return undefined;
    }
    return this.#pairs.get(accessKeyId);
  }

  #fileChangedMs(): number {
    if (this.#dataDir === undefined) return 0;
    return fs.statSync(fileIn(this.#dataDir), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  }
}

function pairsOf(secrets: StorageSecrets): [current: SigningPair, all: ReadonlyMap<string, SigningPair>] {
  const current = signingPair(secrets);
  const all = [current, ...(secrets.earlierCredentials ?? []).map(signingPair)];
  return [current, new Map(all.map((pair) => [pair.accessKeyId, pair]))];
}

const signingPair = ({ accessKeyId, secretAccessKey }: Credentials): SigningPair => ({
  accessKeyId,
  secretAccessKey,
  signer: once(() => s3Signer({ accessKeyId, secretAccessKey })),
});
