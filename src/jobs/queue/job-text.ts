// SPDX-License-Identifier: Apache-2.0
import { storedJson, unlessDamaged } from '../../state/database/stored-json.js';
import type { ScoreCorrection } from '../../state/operating-points/profile.js';
import type { Job } from './job.js';

/** The place of a job's recording. */
export type JobSource =
  /** A presigned link. */
  | { readonly link: string }
  /** The whole name of an object in the configured storage. */
  | {
      readonly object: string;
      /** Under this name its result is stored also. */
      readonly resultObject?: string;
    };

/** The basis of a job's verdict, as in a request. */
export interface JobParameters {
  readonly model: string;
  /** By default it follows from the job's id. */
  readonly predictionId?: string;
  /** 0..1 */
  readonly threshold: number;
  /** 0..100 */
  readonly silenceThresholdPercent: number;
  /** The name of the profile that corrects scores. */
  readonly profile?: string;
  /** Its correction when the job was made: like the threshold, it stays. */
  readonly correction?: ScoreCorrection;
  /** The detector that the named profile or threshold is for; absent if neither has a name. */
  readonly boundTo?: { readonly modelId: string; readonly scoreFingerprint: string };
  /** The region of the recording, in seconds; all of it where absent. */
  readonly startS?: number;
  readonly endS?: number;
  /** Whether each channel gets a verdict of its own. */
  readonly separatesChannels?: true;
  /** Further parts of the answer. */
  readonly detail?: 'stretches';
}

/** The basis of an enrolment, besides the sample. */
export type EnrollParameters = Pick<JobParameters, 'startS' | 'endS'>;

/** Of a job whose source was erased. */
export const NO_SOURCE = '{}';

/**
 * The rest of the source of a failed job, kept so that it can be tried again: the name of a stored file, but no link, which is a
 * secret.
 */
export function sourceForRetry(job: Pick<Job, 'id' | 'source' | 'batchId'>): string {
  const source = unlessDamaged(() => jobSource(job));
  return job.batchId === undefined && source !== undefined && 'object' in source ? job.source : NO_SOURCE;
}

/** Whether it can begin anew. */
export const canRetry = ({ state, task, source }: Pick<Job, 'state' | 'task' | 'source'>): boolean =>
  state === 'failed' && task !== 'batch' && source !== NO_SOURCE;

/** For storedJson. */
export const ofJob = ({ id }: Pick<Job, 'id'>, column: string) => ({ table: 'jobs', column, row: id });

type Source = Pick<Job, 'id' | 'source'>;
type Parameters = Pick<Job, 'id' | 'parameters'>;

/** @throws DamagedValue, like all below */
export const jobSource = (job: Source): JobSource => storedJson(job.source, ofJob(job, 'source'));

/** The name under which its result is stored also; undefined without one, or if the source is damaged. */
export function resultObjectOf(job: Source): string | undefined {
  const source = unlessDamaged(() => jobSource(job));
  return source !== undefined && 'object' in source ? source.resultObject : undefined;
}

export const jobParameters = (job: Parameters): JobParameters =>
  storedJson(job.parameters, ofJob(job, 'parameters'));
export const enrollParameters = (job: Parameters): EnrollParameters =>
  storedJson(job.parameters, ofJob(job, 'parameters'));
export const jobResult = <Result extends object>(id: string, result: string): Result =>
  storedJson(result, ofJob({ id }, 'result'));

/** The place of a batch's manifest, and that of its result. */
export interface BatchSource {
  /** Absent if the manifest came with the request, and once it is read. */
  readonly manifest?: JobSource & {
    /** Of the file that its lines come from, once some are in the table. */
    readonly identity?: string;
  };
  /** All of its lines are in the table. */
  readonly isRead?: true;
  /** Of that manifest. */
  readonly sha256?: string;
  /** The beginning of the object's name. */
  readonly resultFolder: string;
  /** By default it follows from the job's id. */
  readonly resultKey?: string;
}

export const batchSource = (job: Source): BatchSource => storedJson(job.source, ofJob(job, 'source'));
