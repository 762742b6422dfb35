// SPDX-License-Identifier: Apache-2.0
import type { Job, JobEnrollment, Prediction } from './types.js';

/** The verdict of a job; null before its end, without success, and of other tasks. */
export const verdictOf = ({ result }: Pick<Job, 'result'>): Prediction | null =>
  result !== null && 'global' in result ? result : null;

/** The voiceprint of a job with the task `enroll`; null before its end, without success, and of other tasks. */
export const enrollmentOf = ({ result }: Pick<Job, 'result'>): JobEnrollment | null =>
  result !== null && 'embedding' in result ? result : null;
