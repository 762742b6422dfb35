// SPDX-License-Identifier: Apache-2.0
//
// Made by `npm run docs` from the schemas that the server validates by. Do not edit.

export interface PredictFields {
  /**
   * The source of the recording.
   */
  device?: 'macos' | 'windows' | 'web_app' | 'api';
  /**
   * The detector; the server says which there are.
   */
  model?: string;
  /**
   * The client's own identifier for the prediction; the server makes one by default.
   */
  prediction_id?: string;
  /**
   * Score from which a window is `spoofed`. A lower threshold finds more AI-generated voices, a higher one accuses fewer people. Can also be the name of an operating point that the server's operator made for the model.
   */
  threshold?: number | string;
  /**
   * Windows with a higher percentage of non-speech are skipped; 100 analyses every window.
   */
  silence_threshold?: number;
}

export interface LargeFileFields {
  /**
   * The source of the recording.
   */
  device?: 'macos' | 'windows' | 'web_app' | 'api';
  /**
   * The detector; the server says which there are.
   */
  model?: string;
  /**
   * The client's own identifier for the prediction; the server makes one by default.
   */
  prediction_id?: string;
  /**
   * The file's original name, for reference only.
   */
  filename?: string;
}

export interface EnrollFields {
  /**
   * The client's own identifier for the speaker; nothing is stored or looked up under it.
   */
  user_id?: string;
}

export interface VerifyFields {
  /**
   * The client's own identifier for the speaker; nothing is stored or looked up under it.
   */
  user_id?: string;
  /**
   * The embedding from enroll: a JSON array, or base64 of little-endian float32.
   */
  voice_vector: string;
}

export interface JobFields {
  /**
   * Link to the recording: to the object storage, or to a host that the operator allows. Either this or `key`.
   */
  presigned_url?: string;
  /**
   * Key of a stored file. Either this or `presigned_url`.
   */
  key?: string;
  /**
   * Entity of the stored file.
   */
  entity?: string;
  /**
   * Two requests with the same value make one job.
   */
  idempotency_key?: string;
  /**
   * Link to which the server posts the end of the job: to a host that the operator allows (docs/webhooks.md).
   */
  callback_url?: string;
  /**
   * The source of the recording.
   */
  device?: 'macos' | 'windows' | 'web_app' | 'api';
  /**
   * The detector; the server says which there are.
   */
  model?: string;
  /**
   * The client's own identifier for the prediction; the server makes one by default.
   */
  prediction_id?: string;
  /**
   * Score from which a window is `spoofed`. A lower threshold finds more AI-generated voices, a higher one accuses fewer people. Can also be the name of an operating point that the server's operator made for the model.
   */
  threshold?: number | string;
  /**
   * Windows with a higher percentage of non-speech are skipped; 100 analyses every window.
   */
  silence_threshold?: number;
}

export interface BatchFields {
  /**
   * The manifest itself: CSV or JSON lines. Either this, `key` or `presigned_url`.
   */
  lines?: string;
  /**
   * Key of a stored manifest.
   */
  key?: string;
  /**
   * Entity of the stored manifest.
   */
  entity?: string;
  /**
   * Link to the manifest, as for a recording.
   */
  presigned_url?: string;
  /**
   * Key of the result, with the entity `results`; by default `batches/<id of the job>.jsonl`.
   */
  result_key?: string;
  /**
   * Two requests with the same value make one job.
   */
  idempotency_key?: string;
  /**
   * Link to which the server posts the end of the job: to a host that the operator allows (docs/webhooks.md).
   */
  callback_url?: string;
  /**
   * The source of the recording.
   */
  device?: 'macos' | 'windows' | 'web_app' | 'api';
  /**
   * The detector; the server says which there are.
   */
  model?: string;
  /**
   * Score from which a window is `spoofed`. A lower threshold finds more AI-generated voices, a higher one accuses fewer people. Can also be the name of an operating point that the server's operator made for the model.
   */
  threshold?: number | string;
  /**
   * Windows with a higher percentage of non-speech are skipped; 100 analyses every window.
   */
  silence_threshold?: number;
}

export interface GlobalVerdict {
  /**
   * Probability of being AI-generated.
   */
  score: number;
  /**
   * Distance of the score from the threshold, 0 to 1.
   */
  confidence: number;
  /**
   * `spoofed` means AI-generated, `bonafide` means human.
   */
  result: 'spoofed' | 'bonafide';
  /**
   * Null, or a code for why the verdict needs caution.
   */
  reason: string | null;
}

export interface Segment {
  /**
   * Start of the window in seconds.
   */
  start: number;
  /**
   * End of the window in seconds.
   */
  end: number;
  /**
   * Scores of the window.
   *
   * Items: Probability of being AI-generated.
   */
  scores: number[];
  /**
   * Distance of the score from the threshold, 0 to 1.
   */
  confidence: number;
  /**
   * `spoofed` means AI-generated, `bonafide` means human.
   */
  result: 'spoofed' | 'bonafide';
}

export interface Prediction {
  /**
   * The client's own identifier, or else `pred_` and 12 hexadecimal characters.
   */
  prediction_id: string;
  global: GlobalVerdict;
  /**
   * One entry per analysed window.
   */
  segments: Segment[];
  /**
   * Id of the model that answered.
   */
  model: string;
  /**
   * Processing time of the request in seconds.
   */
  processing_time: number;
  /**
   * Duration of the audio in seconds.
   */
  audio_duration: number;
  /**
   * One sentence per warning; empty if there are no warnings.
   */
  warnings: string[];
}

export interface LargeFileGlobalVerdict {
  /**
   * Distance of the score from the threshold, 0 to 1.
   */
  confidence: number;
  /**
   * `spoofed` means AI-generated, `bonafide` means human.
   */
  result: 'spoofed' | 'bonafide';
  /**
   * Null, or a code for why the verdict needs caution.
   */
  reason: string | null;
}

export interface LargeFileSegment {
  /**
   * Zero-based position.
   */
  index: number;
  /**
   * Start of the window in seconds.
   */
  start: number;
  /**
   * End of the window in seconds.
   */
  end: number;
  /**
   * Distance of the score from the threshold, 0 to 1.
   */
  confidence: number;
  /**
   * `spoofed` means AI-generated, `bonafide` means human.
   */
  result: 'spoofed' | 'bonafide';
}

export interface LargeFilePrediction {
  /**
   * The client's own identifier, or else `pred_` and 12 hexadecimal characters.
   */
  prediction_id: string;
  global: LargeFileGlobalVerdict;
  /**
   * One entry per analysed window.
   */
  segments: LargeFileSegment[];
  /**
   * Id of the model that answered.
   */
  model: string;
  /**
   * Processing time of the request in seconds.
   */
  processing_time: number;
  /**
   * Duration of the audio in seconds.
   */
  audio_duration: number;
  /**
   * One sentence per warning; empty if there are no warnings.
   */
  warnings: string[];
}

export interface Enrollment {
  /**
   * The voiceprint: numbers with float32 precision.
   */
  embedding: number[];
  /**
   * Processing time of the request in seconds.
   */
  processing_time: number;
  /**
   * Id of the model that answered.
   */
  model_version: string;
  /**
   * Whether the sample was checked for AI generation.
   */
  deepfake_checked: boolean;
}

export interface Verification {
  /**
   * Whether the sample matches the voiceprint.
   */
  is_match: boolean;
  /**
   * Calibrated similarity, with six significant digits.
   */
  similarity_score: number;
  /**
   * Distance of the similarity from the model's operating point.
   */
  confidence_score: number;
  /**
   * Processing time of the request in seconds.
   */
  processing_time: number;
  /**
   * Id of the model that answered.
   */
  model_version: string;
  /**
   * Null if the voice is authentic or was not checked.
   */
  deepfake_score: number | null;
}

export interface BatchProgress {
  /**
   * Lines of the manifest that were read.
   */
  lines: number;
  /**
   * Lines with a verdict.
   */
  succeeded: number;
  /**
   * Lines that failed or were cancelled.
   */
  failed: number;
  /**
   * Key of the result, with the entity `results`; null before the end.
   */
  result_key: string | null;
}

export interface WebhookLog {
  /**
   * The `webhook-id`; the same at each attempt.
   */
  id: string;
  /**
   * `delivered` and `failed` are final, unless the operator has it sent again.
   */
  state: 'waiting' | 'sending' | 'delivered' | 'failed';
  /**
   * Time of the next attempt; null if there is none.
   */
  next_attempt_at: string | null;
  /**
   * The latest 24 at most, in the order of time.
   */
  attempts: {
    /**
     * Time of the request.
     */
    at: string;
    /**
     * Milliseconds to the end of the answer.
     */
    took_ms: number;
    /**
     * Status of the answer; null without one.
     */
    status: number | null;
    /**
     * Why it failed; null if it did not.
     */
    problem: string | null;
  }[];
}

export interface Job {
  /**
   * Id of the job.
   */
  id: string;
  /**
   * `succeeded`, `failed` and `cancelled` are final.
   */
  state: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  /**
   * Time of the request.
   */
  created_at: string;
  /**
   * Time of the first start; null before.
   */
  started_at: string | null;
  /**
   * Time of the end; null before.
   */
  finished_at: string | null;
  /**
   * Number of starts.
   */
  attempts: number;
  /**
   * Jobs of all accounts that go first; null unless the job is queued.
   */
  queue_position: number | null;
  /**
   * Seconds of audio that are analysed and saved.
   */
  audio_analysed: number;
  /**
   * Share of the file that was read, 0 to 1.
   */
  file_progress: number;
  /**
   * Why the job failed, or why its last attempt did; null without a failure.
   */
  error: {
    /**
     * Name of the error in docs/errors.md.
     */
    key: string;
    /**
     * A sentence for people.
     */
    message: string;
  } | null;
  /**
   * The verdict, as `POST /v1/predict` answers it; null unless the job has succeeded.
   */
  result: Prediction | null;
  /**
   * What became of the lines of a batch; null for a job that is none.
   */
  batch: BatchProgress | null;
  /**
   * How the end of the job was posted to its `callback_url`; null without one, and before the end.
   */
  webhook: WebhookLog | null;
}

export interface JobSummary {
  /**
   * Id of the job.
   */
  id: string;
  /**
   * `succeeded`, `failed` and `cancelled` are final.
   */
  state: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  /**
   * Time of the request.
   */
  created_at: string;
  /**
   * Time of the first start; null before.
   */
  started_at: string | null;
  /**
   * Time of the end; null before.
   */
  finished_at: string | null;
  /**
   * Number of starts.
   */
  attempts: number;
  /**
   * Jobs of all accounts that go first; null unless the job is queued.
   */
  queue_position: number | null;
  /**
   * Seconds of audio that are analysed and saved.
   */
  audio_analysed: number;
  /**
   * Share of the file that was read, 0 to 1.
   */
  file_progress: number;
  /**
   * Why the job failed, or why its last attempt did; null without a failure.
   */
  error: {
    /**
     * Name of the error in docs/errors.md.
     */
    key: string;
    /**
     * A sentence for people.
     */
    message: string;
  } | null;
}

export interface JobList {
  /**
   * The newest first, without results.
   */
  jobs: JobSummary[];
  /**
   * For the next page; null on the last.
   */
  next_cursor: string | null;
}

export interface LinkList {
  /**
   * One entry per object.
   */
  url: {
    /**
     * The object key, as `<entity>/<key>`.
     */
    key: string;
    /**
     * A presigned link to the object storage.
     */
    value: string;
  }[];
}

export interface DeletedFiles {
  /**
   * The object keys, as `<entity>/<key>`.
   */
  deleted: string[];
}

export interface ErrorBody {
  /**
   * Machine-readable code.
   */
  error:
    | 'validation_error'
    | 'unauthorized'
    | 'forbidden'
    | 'not_found'
    | 'method_not_allowed'
    | 'timeout'
    | 'payload_too_large'
    | 'unsupported_format'
    | 'rate_limited'
    | 'internal_error'
    | 'unavailable';
  /**
   * Explanation for people.
   */
  message: string;
  /**
   * The HTTP status code.
   */
  status: number;
  /**
   * Identifies the request; the same UUID is in the header `x-correlation-id`.
   */
  correlation_id: string;
}

export interface ForbiddenErrorBody {
  statusCode: 403;
  message: {
    /**
     * Explanation for people, with the confidence as a percentage.
     */
    detail: string;
    type: 'forbidden_error';
    /**
     * Identifies the request; the same UUID is in the header `x-correlation-id`.
     */
    correlation_id: string;
    /**
     * Time of the answer, as ISO 8601 in UTC.
     */
    timestamp: string;
  };
}
