// SPDX-License-Identifier: Apache-2.0
import type { Analyser } from '../../analysis/analyser/analyser.js';
import { enrollmentBody, isAiGenerated, requireAuthentic } from '../../analysis/voiceid/answers.js';
import { chooseSpeakerModel, Speaker } from '../../analysis/voiceid/speaker.js';
import { readVoice } from '../../analysis/voiceid/voice-sample.js';
import type { AudioRegion } from '../../base/addon/addon.js';
import type { ByteSource } from '../../base/byte-source/byte-source.js';
import type { Config } from '../../base/config/options.js';
import { enrollNeeds } from '../../base/contract/limits.js';
import { defaultModel } from '../../base/contract/model-ids.js';
import { SAMPLE_FIELD } from '../../base/contract/voice-endpoints.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { JobEnrollment } from '../contract/job.js';
import type { DoneWork } from './done-work.js';

const BLOCK_BYTES = 1 << 20;

export type EnrollConfig = Pick<
  Config,
  'enrollAuthenticity' | 'maxVoiceidBytes' | 'maxVoiceidDurationS' | 'speakerModel' | 'largeFileTimeoutMs'
>;

/** A voice sample that is not in memory. */
export interface EnrollTask extends AudioRegion {
  readonly source: ByteSource;
  /** Of the work. Owners take turns. */
  readonly owner: string;
  readonly signal: AbortSignal;
  readonly onProgress: (fileProgress: number) => void;
}

export interface Enrolled {
  readonly body: JobEnrollment;
  readonly done: DoneWork;
}

/**
 * Makes a voiceprint of a sample, as `POST /v1/voiceid/enroll` does. Samples are small, so it is read as a whole.
 * @throws ServiceError as that route answers, or what the source throws
 */
export async function enrollRecording(
  { source, owner, signal, onProgress, ...region }: EnrollTask,
  analyser: Analyser,
  config: EnrollConfig,
): Promise<Enrolled> {
  const { bytes } = source;
  const { detectors, speakerModels } = analyser.status();
  const model = chooseSpeakerModel(speakerModels, config);
  if (model === undefined) throw new ServiceError('NO_SPEAKER_MODEL');
  if (bytes === 0) throw new ServiceError('FILE_EMPTY', { field: SAMPLE_FIELD });
  if (bytes > config.maxVoiceidBytes) {
    throw new ServiceError('FILE_TOO_LARGE', { allowedBytes: config.maxVoiceidBytes, hint: '' });
  }
  const startedMs = performance.now();
  const memory = new SharedArrayBuffer(bytes);
  for (let offset = 0; offset < bytes; offset += BLOCK_BYTES) {
    const block = new Uint8Array(Math.min(BLOCK_BYTES, bytes - offset));
    await source.read(block, offset, signal);
    new Uint8Array(memory).set(block, offset);
    onProgress((offset + block.length) / bytes);
  }
  const policy = config.enrollAuthenticity;
  const speaker = new Speaker(model, undefined);
  const sample = await readVoice(analyser, speaker, {
    region: { offset: 0, length: bytes },
    memory,
    detectorId: policy === 'skip' ? undefined : defaultModel(detectors),
    ...enrollNeeds,
    ...region,
    maxDurationS: config.maxVoiceidDurationS,
    longTimeoutMs: config.largeFileTimeoutMs,
    signal,
    owner,
  });
  if (policy === 'reject') requireAuthentic(sample);
  const inHeaders = {
    ...(isAiGenerated(sample) && { deepfake_flagged: sample.deepfakeScore as number }),
    ...(sample.warnings.length > 0 && { warnings: sample.warnings }),
  };
  return {
    body: { ...enrollmentBody(sample, speaker, (performance.now() - startedMs) / 1000), ...inHeaders },
    done: {
      bytes,
      audioS: sample.durationS,
      scoredWindows: sample.scoredWindows,
      skippedS: sample.skipped.reduce((sum, { startS, endS }) => sum + endS - startS, 0),
      model: speaker.modelId,
      modelIds: sample.modelIds,
    },
  };
}
