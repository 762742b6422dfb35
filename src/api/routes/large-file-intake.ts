// SPDX-License-Identifier: Apache-2.0
import type { Config } from '../../base/config/options.js';
import { BytePermits } from '../admission/byte-permits.js';
import { nobody } from '../admission/shared-budget.js';
import { FORM_OVERHEAD_BYTES } from '../upload/form-upload.js';
import { isJsonType } from '../upload/json-body.js';
import { type FileIntake, type InputLimits, receiveInput } from './analysis-input.js';
import type { FieldReader } from './form-fields.js';
import type { AnalysisInput } from './form-input.js';
import type { RouteRequest } from './route.js';

/** Two files of the largest size fit into this share of the upload memory, as both are by default. */
const LARGE_SHARE = 0.8;

/** For the share of the upload memory that large files may have together, whichever route takes them. */
export function createLargeFilePermits(
  config: Pick<Config, 'maxInflightBytes' | 'maxLargeFileBytes' | 'keyMemoryPercent' | 'addressSharePercent'>,
): BytePermits {
  const shareBytes = Math.floor(config.maxInflightBytes * LARGE_SHARE);
  // One always fits, so that no setting can refuse them all.
  const limitBytes = Math.max(shareBytes, config.maxLargeFileBytes + FORM_OVERHEAD_BYTES);
  const shares = { key: config.keyMemoryPercent, address: config.addressSharePercent };
  return new BytePermits(limitBytes, 'large files in flight', shares);
}

/**
 * Receives large files, which together may hold only part of the upload memory: one that had to wait in the queue for that
 * memory would also keep every small one behind it waiting.
 */
export class LargeFileIntake<Fields> {
  readonly #intake: FileIntake;
  readonly #limits: InputLimits;
  readonly #largestBodyBytes: number;
  readonly #permits: BytePermits;

  constructor(intake: FileIntake, limits: InputLimits, permits: BytePermits) {
    this.#intake = intake;
    this.#limits = limits;
    this.#largestBodyBytes = limits.maxFileBytes + FORM_OVERHEAD_BYTES;
    this.#permits = permits;
  }

  /** Must be called before the request's handler first awaits. The caller must release the input. */
  async receive(request: RouteRequest, reader: FieldReader<Fields>): Promise<AnalysisInput<Fields>> {
    const isLink = isJsonType(request.contentType);
    const { declaredBytes: bodyBytes = this.#largestBodyBytes } = request.body;
    // The size of a file behind a link is known only when it comes.
    const sizes = {
      declaredBytes: isLink ? this.#largestBodyBytes : bodyBytes,
      largestBytes: this.#largestBodyBytes,
    };
    return holding(this.#permits, request, sizes, async () => {
      const input = await receiveInput(request, reader, this.#intake, this.#limits);
      const { minFile } = this.#limits;
      if (isLink && minFile !== undefined && input.region.length < minFile.bytes) {
        input.release();
        throw minFile.tooSmall();
      }
      return input;
    });
  }
}

/**
 * Input that counts in these permits until it is released.
 * @throws ServiceError OVERLOADED and the errors of `receive`
 */
export async function holding<Input extends { release(): void }>(
  permits: BytePermits,
  { body }: Pick<RouteRequest, 'body'>,
  { declaredBytes, largestBytes }: { readonly declaredBytes: number; readonly largestBytes: number },
  receive: () => Promise<Input>,
): Promise<Input> {
  // A declared size that is over the limit is refused for that, not for lack of room.
  const neededBytes = declaredBytes > largestBytes ? 0 : declaredBytes;
  const giveBack = permits.acquire(body.holder ?? nobody, neededBytes);
  try {
    const input = await receive();
    const release = (): void => {
      input.release();
      giveBack();
    };
    return { ...input, release };
  } catch (error) {
    giveBack();
    throw error;
  }
}
