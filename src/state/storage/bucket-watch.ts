// SPDX-License-Identifier: Apache-2.0
import type { Logger } from '../../base/observe/log.js';
import { statusOf } from './s3-failure.js';
import type { S3Storage } from './s3-storage.js';
import { fingerprintOf, OtherSecret } from './shared-secret.js';

/**
 * `unavailable`: does not answer, or fails; `missing`: there is no such bucket; `refused`: the credentials, or the rights that they
 * have; `other_secret`: hosts with another secret use the bucket, and find other files in it.
 */
export type BucketState = 'up' | 'unavailable' | 'missing' | 'refused' | 'other_secret';

/** Its folder belongs to no account. */
const NOTE = `${'0'.repeat(32)}/veravox/secret.json`;
/** A start does not wait longer for the first look. */
const FIRST_LOOK_MS = 5000;
const LOOK_EVERY_MS = 30_000;
/** While something is wrong. */
const LOOK_AGAIN_MS = 5000;

const otherSecret =
  "Hosts with another secret store files in this bucket, so they and this server would not find each other's. Give all of them the " +
  'same VERAVOX_STORAGE_SECRET (the accountSecret in storage.json of their data folder) or the same VERAVOX_DATABASE_URL, or use ' +
  'another bucket.';

export interface BucketWatchOptions {
  readonly bucket: Pick<S3Storage, 'readNote' | 'write'>;
  /** For people. */
  readonly name: string;
  readonly accountSecret: string;
  readonly log?: Logger | undefined;
  readonly everyMs?: number;
  readonly againMs?: number;
}

/** Knows whether the bucket can be used, and by a note in it whether all hosts that use it have the same secret. */
export class BucketWatch {
  readonly #options: BucketWatchOptions;
  #state: BucketState = 'up';
  #problem: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: BucketWatchOptions) {
    this.#options = options;
  }

  get state(): BucketState {
    return this.#state;
  }

  /** Whether nothing is wrong that only an operator can mend. */
  get isUsable(): boolean {
    return this.#state === 'up' || this.#state === 'unavailable';
  }

  /** The storage's error, for operators. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Looks for the first time, but does not wait for long, and goes on looking. @throws OtherSecret */
  async start(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FIRST_LOOK_MS);
    });
    await Promise.race([this.#round(), late]);
    clearTimeout(timer);
    if (this.#state !== 'other_secret') return;
    this.close();
    throw new OtherSecret(otherSecret);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #round(): Promise<void> {
    const { everyMs = LOOK_EVERY_MS, againMs = LOOK_AGAIN_MS } = this.#options;
    const [state, problem] = await this.#look();
    if (this.#isClosed) return;
    this.#change(state, problem);
    this.#timer = setTimeout(() => void this.#round(), state === 'up' ? everyMs : againMs).unref();
  }

  async #look(): Promise<readonly [BucketState, problem?: string]> {
    const { bucket, accountSecret } = this.#options;
    const note = JSON.stringify({ version: 1, fingerprint: fingerprintOf(accountSecret) });
    try {
      let found = await bucket.readNote(NOTE);
      if (found === undefined) {
        await bucket.write(NOTE, Buffer.from(note));
        // Another host may have written its own.
        found = await bucket.readNote(NOTE);
      }
      return found === note ? ['up'] : ['other_secret', otherSecret];
    } catch (error) {
      return [stateBy(error), messageOf(error)];
    }
  }

  #change(state: BucketState, problem: string | undefined): void {
    const { log, name: bucket } = this.#options;
    const before = this.#state;
    this.#state = state;
    this.#problem = problem;
    if (state === before) return;
    if (state === 'up') log?.info({ bucket }, 'the bucket can be used again');
    else if (state === 'unavailable') log?.warn({ bucket, problem }, 'the bucket cannot be reached');
    else log?.error({ bucket, state, problem }, 'the bucket cannot be used: not ready');
  }
}

/** The SDK's errors that only an operator can end. */
function stateBy(error: unknown): BucketState {
  const cause = (error as Error).cause ?? error;
  if ((cause as Error).name === 'CredentialsProviderError') return 'refused';
  const status = statusOf(cause);
  if (status === 404) return 'missing';
  return status !== undefined && status >= 300 && status < 500 && status !== 408 && status !== 429
    ? 'refused'
    : 'unavailable';
}

function messageOf(error: unknown): string {
  const cause = (error as Error).cause ?? error;
  return `${(cause as Error).name}: ${(cause as Error).message}`.slice(0, 500);
}
