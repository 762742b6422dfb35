// SPDX-License-Identifier: Apache-2.0
import { type Addon, loadAddon, type VoiceprintRanking } from '../../base/addon/addon.js';
import { MAX_VOICEPRINTS } from '../../base/contract/limits.js';
import { VOICEPRINTS_EXPECTED, VOICEPRINTS_FIELD } from '../../base/contract/voice-fields.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { Speaker } from './speaker.js';
import { normalised } from './vectors.js';
import { TOLERANCE } from './voiceprint-space.js';

const mostEntries = MAX_VOICEPRINTS;

type Answered<Call extends keyof Addon> = Addon[Call] extends (...args: never[]) => Promise<infer Result>
  ? Result
  : never;

/**
 * A list of voiceprints as a client sends it. It stays text: it is read once to check it, and once to compare, neither in the
 * thread that serves nor into memory of its own.
 */
export class VoiceprintList {
  readonly #text: Uint8Array;

  private constructor(text: Uint8Array) {
    this.#text = text;
  }

  /**
   * @param text is read in place
   * @throws ServiceError FIELD_INVALID, LISTED_VOICEPRINT_FOREIGN
   */
  static async checked(text: Uint8Array, { space, modelId }: Speaker): Promise<VoiceprintList> {
    const options = { tolerance: TOLERANCE, mostEntries };
    const { foreign } = accepted<Answered<'findForeignVoiceprint'>>(
      await loadAddon().findForeignVoiceprint(text, space.excluded, options),
    );
    if (foreign !== undefined) {
      throw new ServiceError('LISTED_VOICEPRINT_FOREIGN', { entry: foreign, model: modelId });
    }
    return new VoiceprintList(text);
  }

  /** @param best how many of the best to name */
  async rank(voiceprint: Float32Array, best: number): Promise<VoiceprintRanking> {
    const options = { best, mostEntries };
    return accepted<Answered<'rankVoiceprints'>>(
      await loadAddon().rankVoiceprints(this.#text, normalised(voiceprint), options),
    );
  }
}

function accepted<Result extends object>(result: Result): Exclude<Result, { readonly problem: string }> {
  if ('problem' in result) {
    throw new ServiceError('FIELD_INVALID', {
      field: VOICEPRINTS_FIELD,
      expected: VOICEPRINTS_EXPECTED,
      received: String(result.problem),
    });
  }
  return result as Exclude<Result, { readonly problem: string }>;
}
