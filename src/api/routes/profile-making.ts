// SPDX-License-Identifier: Apache-2.0
import type { Analyser, Analysis } from '../../analysis/analyser/analyser.js';
import type { ArenaRegion } from '../../analysis/memory/arena.js';
import { detectorNamed } from '../../analysis/pipeline/model-status.js';
import { generatedSpeechOf, NoProfiles } from '../../analysis/profiles/generated-speech.js';
import { hearRecording } from '../../analysis/profiles/hear-recording.js';
import {
  addDistinct,
  type HeardRecording,
  makeProfile,
  whyNotWorthwhile,
} from '../../analysis/profiles/make-profile.js';
import { togetherOf } from '../../analysis/voiceid/read-samples.js';
import type { Config } from '../../base/config/options.js';
import { MIN_PROFILE_RECORDINGS } from '../../base/contract/limits.js';
import type { LeftOutRecording } from '../../base/contract/profile.js';
import {
  GENERATED_FIELD,
  GENUINE_FIELD,
  type NewProfileFields,
} from '../../base/contract/profile-endpoints.js';
import { isClientFault } from '../../base/errors/client-fault.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { NewProfile, ProfileVersion } from '../../state/operating-points/profile.js';
import { MAX_PROFILES, TooManyProfiles } from '../../state/operating-points/profile-table.js';
import type { BytePermits } from '../admission/byte-permits.js';
import type { ArenaQueue } from '../upload/arena-queue.js';
import { noteFindings } from './answer-analysis.js';
import type { FormInput } from './form-input.js';
import type { ProfileStore } from './profile-bodies.js';
import { callerOf, type RouteRequest } from './route.js';

export interface MakeProfileParts {
  readonly config: Config;
  readonly analyser: Analyser;
  readonly queue: ArenaQueue;
  /** For the share of the upload memory that large requests may have together. */
  readonly permits: BytePermits;
  readonly profiles: ProfileStore;
}

interface SavedProfile {
  /** The new one first. */
  readonly versions: readonly ProfileVersion[];
  readonly leftOut: readonly LeftOutRecording[];
}

/**
 * Makes a profile of the recordings of a form, and saves it.
 * @throws ServiceError if it cannot be made, or would not be worthwhile
 */
export async function makeAndSave(
  input: FormInput<NewProfileFields>,
  request: RouteRequest,
  parts: MakeProfileParts,
): Promise<SavedProfile> {
  const { profile, leftOut } = await profileFrom(input, request, parts);
  // A client that has gone would not know of it.
  request.signal.throwIfAborted();
  return { versions: await save(profile, request, parts), leftOut };
}

async function profileFrom(
  input: FormInput<NewProfileFields>,
  request: RouteRequest,
  parts: MakeProfileParts,
): Promise<{ readonly profile: NewProfile; readonly leftOut: readonly LeftOutRecording[] }> {
  const { analyser, config, profiles } = parts;
  const { fields, regions, otherRegions } = input;
  if (regions.length < MIN_PROFILE_RECORDINGS) {
    const expected = `at least ${MIN_PROFILE_RECORDINGS} files`;
    throw new ServiceError('FIELD_INVALID', { field: GENUINE_FIELD, expected, received: regions.length });
  }
  const { account } = callerOf(request);
  const detector = detectorNamed(analyser.status(), fields.model);
  const others = (await profiles.table.usableBy(account)).filter(
    (each) => each.account === account && !(each.name === fields.name && each.model === detector.id),
  );
  if (others.length >= MAX_PROFILES) throw tooMany();
  const background = await generatedSpeechOf(config.modelsDir, detector.id).catch((error: unknown) => {
    if (!(error instanceof NoProfiles)) throw error;
    const expected = 'a detector that can have profiles';
    throw new ServiceError('FIELD_INVALID', { field: 'model', expected, received: detector.id });
  });
  const ear = new Ear(parts, request, detector.id);
  try {
    const genuine = await ear.hear(GENUINE_FIELD, regions);
    if (genuine.length < MIN_PROFILE_RECORDINGS)
      throw insufficient(regions.length, genuine.length, ear.leftOut);
    const generated = await ear.hear(GENERATED_FIELD, otherRegions);
    const made = await makeProfile(fields.name, detector, background, genuine, generated);
    const problem = whyNotWorthwhile(made.measured);
    if (problem !== undefined) throw new ServiceError('PROFILE_NOT_WORTHWHILE', { problem });
    return { profile: { ...made, account }, leftOut: ear.leftOut };
  } finally {
    ear.close();
  }
}

async function save(
  profile: NewProfile,
  request: RouteRequest,
  { profiles }: MakeProfileParts,
): Promise<readonly ProfileVersion[]> {
  const versions = await profiles.table.save(profile).catch((error: unknown) => {
    throw error instanceof TooManyProfiles ? tooMany() : error;
  });
  const { name, model } = profile;
  const version = versions[0]?.version;
  profiles.note({ event: 'profile_made', name, model, version, ...callerOf(request) });
  await profiles.refresh();
  return versions;
}

const tooMany = () => new ServiceError('TOO_MANY_PROFILES', { allowed: MAX_PROFILES });

function insufficient(given: number, usable: number, leftOut: readonly LeftOutRecording[]): ServiceError {
  const problems = leftOut.map(({ index, key }) => `${index}: ${key}`).join(', ');
  return new ServiceError('PROFILE_RECORDINGS_INSUFFICIENT', {
    required: MIN_PROFILE_RECORDINGS,
    given,
    usable,
    problems,
  });
}

/**
 * Analyses the recordings of a request one after the other, so that each waits for its turn among the requests of others, and
 * together within the time of one large file.
 */
class Ear {
  readonly leftOut: LeftOutRecording[] = [];
  readonly #parts: MakeProfileParts;
  readonly #request: RouteRequest;
  readonly #model: string;
  readonly #signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #analyses: Analysis[] = [];

  constructor(parts: MakeProfileParts, request: RouteRequest, model: string) {
    this.#parts = parts;
    this.#request = request;
    this.#model = model;
    const timeoutMs = parts.config.largeFileTimeoutMs;
    const reason = new ServiceError('ANALYSIS_TIMEOUT', { timeoutMs });
    const late = new AbortController();
    this.#timer = setTimeout(() => late.abort(reason), timeoutMs);
    this.#signal = AbortSignal.any([request.signal, late.signal]);
  }

  /** Recordings that cannot be analysed, and copies, are left out. @throws ServiceError, or the reason of the request's signal */
  async hear(field: LeftOutRecording['field'], regions: readonly ArenaRegion[]): Promise<HeardRecording[]> {
    const { analyser, config } = this.#parts;
    const recordings: HeardRecording[] = [];
    for (const [index, region] of regions.entries()) {
      try {
        const { heard, analysis } = await hearRecording(analyser, {
          region,
          model: this.#model,
          maxDurationS: config.maxPredictDurationS,
          longTimeoutMs: config.largeFileTimeoutMs,
          signal: this.#signal,
          owner: this.#request.caller?.id ?? '',
        });
        this.#analyses.push(analysis);
        addDistinct(recordings, heard);
      } catch (error) {
        if (!(error instanceof ServiceError) || !isClientFault(error.status)) throw error;
        this.leftOut.push({ field, index, key: error.key, message: error.message });
      }
    }
    return recordings;
  }

  /** Notes the work, whatever came of it. */
  close(): void {
    clearTimeout(this.#timer);
    const heard = this.#analyses.map(({ modelId, windows, ...measured }) => ({
      ...measured,
      modelIds: [modelId],
      scoredWindows: windows.length,
    }));
    noteFindings(this.#request.record, { ...togetherOf(heard), model: this.#model });
  }
}
