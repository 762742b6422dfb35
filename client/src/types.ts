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
  /**
   * Analyse from here on, in seconds; by default from the start of the recording.
   */
  start?: number;
  /**
   * Analyse up to here, in seconds; by default up to the end of the recording.
   */
  end?: number;
  /**
   * With `separate`, the answer has a verdict on each channel in addition to the one on their mix, for instance on both sides of a call.
   */
  channels?: 'mixed' | 'separate';
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
  /**
   * Analyse from here on, in seconds; by default from the start of the recording.
   */
  start?: number;
  /**
   * Analyse up to here, in seconds; by default up to the end of the recording.
   */
  end?: number;
  /**
   * With `separate`, the answer has a verdict on each channel in addition to the one on their mix, for instance on both sides of a call.
   */
  channels?: 'mixed' | 'separate';
}

export interface EnrollFields {
  /**
   * The client's own identifier for the speaker; nothing is stored or looked up under it.
   */
  user_id?: string;
  /**
   * Analyse from here on, in seconds; by default from the start of the recording.
   */
  start?: number;
  /**
   * Analyse up to here, in seconds; by default up to the end of the recording.
   */
  end?: number;
}

export interface EnrollSamplesFields {
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
   * Analyse from here on, in seconds; by default from the start of the recording.
   */
  start?: number;
  /**
   * Analyse up to here, in seconds; by default up to the end of the recording.
   */
  end?: number;
  /**
   * The embedding from enroll: a JSON array, or base64 of little-endian float32.
   */
  voice_vector: string;
}

export interface IdentifyFields {
  /**
   * The client's own identifier for the speaker; nothing is stored or looked up under it.
   */
  user_id?: string;
  /**
   * Analyse from here on, in seconds; by default from the start of the recording.
   */
  start?: number;
  /**
   * Analyse up to here, in seconds; by default up to the end of the recording.
   */
  end?: number;
  /**
   * How many of the best matches to name.
   */
  top?: number;
  /**
   * Probability that the speaker is on the list, before the voice is heard.
   */
  prior?: number;
  /**
   * The list, at most 33554432 bytes of JSON. A `voice_vector` is as for verify; `embedding` is another name for it, and other members are ignored.
   */
  voiceprints: string;
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
  /**
   * Analyse from here on, in seconds; by default from the start of the recording.
   */
  start?: number;
  /**
   * Analyse up to here, in seconds; by default up to the end of the recording.
   */
  end?: number;
  /**
   * With `separate`, the answer has a verdict on each channel in addition to the one on their mix, for instance on both sides of a call.
   */
  channels?: 'mixed' | 'separate';
  /**
   * With `enroll`, the result is a voiceprint, as `POST /v1/voiceid/enroll` answers it. Of the fields for analyses, only `start` and `end` apply then, and the key needs the scope `voiceid`, too.
   */
  task?: 'predict' | 'enroll';
  /**
   * The client's own identifier for the speaker; nothing is stored or looked up under it.
   */
  user_id?: string;
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
  /**
   * Analyse from here on, in seconds; by default from the start of the recording.
   */
  start?: number;
  /**
   * Analyse up to here, in seconds; by default up to the end of the recording.
   */
  end?: number;
  /**
   * With `separate`, the answer has a verdict on each channel in addition to the one on their mix, for instance on both sides of a call.
   */
  channels?: 'mixed' | 'separate';
}

export interface StreamFields {
  /**
   * `pcm16`: samples of 16 bits, little-endian, one channel. `opus`: one Opus packet per message, without a container.
   */
  encoding: 'pcm16' | 'opus';
  /**
   * Samples per second. Required for `pcm16`; Opus always counts at 48000.
   */
  sample_rate?: number;
  /**
   * Channels of the Opus packets; `pcm16` has one.
   */
  channels?: 1 | 2;
  /**
   * Samples that the Opus encoder puts before the audio; 312 for most. An Ogg file's header has the number.
   */
  pre_skip?: number;
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

export interface ChannelVerdict {
  /**
   * The channel, from 0 on.
   */
  channel: number;
  /**
   * Null if no window of the channel had enough speech.
   */
  global: GlobalVerdict | null;
  /**
   * One entry per analysed window.
   */
  segments: Segment[];
  /**
   * One sentence per warning; empty if there are no warnings.
   */
  warnings: string[];
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
  /**
   * The verdict on each channel; absent unless the request has `channels=separate`.
   */
  channels?: ChannelVerdict[];
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

export interface LargeFileChannelVerdict {
  /**
   * The channel, from 0 on.
   */
  channel: number;
  /**
   * Null if no window of the channel had enough speech.
   */
  global: LargeFileGlobalVerdict | null;
  /**
   * One entry per analysed window.
   */
  segments: LargeFileSegment[];
  /**
   * One sentence per warning; empty if there are no warnings.
   */
  warnings: string[];
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
  /**
   * The verdict on each channel; absent unless the request has `channels=separate`.
   */
  channels?: LargeFileChannelVerdict[];
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

export interface SampleReport {
  /**
   * Position among the samples, from 0 on.
   */
  index: number;
  /**
   * Whether the sample is part of the voiceprint.
   */
  accepted: boolean;
  /**
   * Why it is not: `too_short`, `ai_generated`, or `disagrees` if it sounds like another speaker than the other samples.
   */
  reason: 'too_short' | 'ai_generated' | 'disagrees' | null;
  /**
   * Seconds of audio; null if it is too short to be analysed.
   */
  duration: number | null;
  /**
   * Seconds of speech in it.
   */
  speech: number | null;
  /**
   * How far the loudest speech is above the pauses, in dB; below 18 it is noisy. Null if there is too little of either.
   */
  snr_db: number | null;
  /**
   * Cosine with the mean of the other accepted samples; null if there are none, or if it was not compared.
   */
  agreement: number | null;
}

export interface EnrollmentQuality {
  /**
   * `good` without shortcomings, `fair` with one, `poor` with more.
   */
  rating: 'good' | 'fair' | 'poor';
  /**
   * What further samples could mend.
   */
  shortcomings: ('little_speech' | 'few_samples' | 'noisy' | 'low_agreement')[];
  /**
   * Seconds of speech in the accepted samples.
   */
  speech: number;
  /**
   * The lowest agreement of an accepted sample; null if only one is accepted.
   */
  agreement: number | null;
}

export interface SampleEnrollment {
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
  /**
   * What each sample is worth.
   */
  samples: SampleReport[];
  quality: EnrollmentQuality;
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

export interface IdentificationMatch {
  /**
   * The id in the list.
   */
  id: string;
  /**
   * Position in the list, from 0 on.
   */
  index: number;
  /**
   * Cosine of the two voiceprints.
   */
  cosine: number;
  /**
   * Calibrated similarity, as verify answers it.
   */
  similarity_score: number;
  /**
   * Probability that this is the speaker, given the whole list and `prior`.
   */
  probability: number;
  /**
   * Probability that the best score of a stranger in a list of this length is at least as high; null if the model does not know.
   */
  stranger_probability: number | null;
  /**
   * Whether the similarity is at or above the model's operating point and `stranger_probability` is at most 0.01.
   */
  is_match: boolean;
}

export interface Identification {
  /**
   * The voiceprints that are most alike, the best first.
   */
  matches: IdentificationMatch[];
  /**
   * Probability that the speaker is not on the list, given `prior`.
   */
  unknown_probability: number;
  /**
   * Best similarity that a stranger reaches in a list of this length: in half of the lists, and in one of a hundred.
   */
  stranger_similarity: {
    /**
     * In half of them.
     */
    median: number;
    /**
     * In one of a hundred.
     */
    one_in_100: number;
  } | null;
  /**
   * Voiceprints in the list.
   */
  compared: number;
  /**
   * Processing time of the request in seconds.
   */
  processing_time: number;
  /**
   * Id of the model that answered.
   */
  model_version: string;
  /**
   * An AI-generated voice is answered with 403.
   */
  deepfake_score: null;
}

export interface JobEnrollment {
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
  /**
   * The score, if an AI-generated voice was enrolled nevertheless; absent otherwise.
   */
  deepfake_flagged?: number;
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
   * `batch` for a list of recordings (docs/batches.md).
   */
  task: 'predict' | 'enroll' | 'batch';
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
   * The verdict, as `POST /v1/predict` answers it, or the voiceprint of an enrolment; null unless the job has succeeded.
   */
  result: Prediction | JobEnrollment | null;
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
   * `batch` for a list of recordings (docs/batches.md).
   */
  task: 'predict' | 'enroll' | 'batch';
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

export interface StreamTicket {
  /**
   * Opens one stream; the name of a WebSocket protocol after `veravox.ticket.`.
   */
  ticket: string;
  /**
   * Seconds for which it can be used.
   */
  expires_in_s: number;
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

/**
 * The stream has begun.
 */
export interface StreamReady {
  type: 'ready';
  /**
   * Identifies the stream, also in the log.
   */
  session_id: string;
  /**
   * Proves that a later connection may go on.
   */
  secret: string;
  /**
   * How long a lost connection may be away.
   */
  resume_within_s: number;
  /**
   * Audio that may be ahead of the analysis; more ends the stream.
   */
  max_waiting_s: number;
  /**
   * Size of the largest binary message.
   */
  max_message_bytes: number;
  /**
   * The client's own identifier, or else `pred_` and 12 hexadecimal characters.
   */
  prediction_id: string;
  /**
   * The detector, as the request names it.
   */
  model: string;
  /**
   * Id of the model that answered.
   */
  model_id: string;
  encoding: 'pcm16' | 'opus';
  /**
   * Rate in which samples are counted.
   */
  sample_rate: number;
  threshold: number;
  silence_threshold: number;
}

/**
 * The stream goes on: the next binary message has the audio after what has arrived.
 */
export interface StreamResumed {
  type: 'resumed';
  /**
   * Identifies the stream, also in the log.
   */
  session_id: string;
  /**
   * Samples that have arrived.
   */
  samples: number;
  /**
   * Binary messages that have arrived.
   */
  messages: number;
}

/**
 * Sent about once per second of audio.
 */
export interface StreamReceived {
  type: 'received';
  /**
   * Samples that have arrived.
   */
  samples: number;
  /**
   * Binary messages that have arrived.
   */
  messages: number;
  /**
   * Audio that has arrived and is not analysed yet.
   */
  waiting_s: number;
}

/**
 * The verdict on all windows so far.
 */
export interface StreamVerdict {
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
   * Windows with a score.
   */
  windows: number;
}

/**
 * The verdict on a window, about 0.1 s of audio after its end.
 */
export interface StreamWindow {
  type: 'window';
  /**
   * Number of the message among `window` and `skipped`, from 0.
   */
  event: number;
  start: number;
  end: number;
  /**
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
  global: StreamVerdict;
}

/**
 * A window without enough speech.
 */
export interface StreamSkipped {
  type: 'skipped';
  /**
   * Number of the message among `window` and `skipped`, from 0.
   */
  event: number;
  start: number;
  end: number;
  non_speech_percent: number;
}

/**
 * The verdict on the whole stream: that of a file with the same audio. The server then closes with 1000.
 */
export interface StreamResult {
  type: 'result';
  /**
   * All messages `window` and `skipped`.
   */
  events: number;
  /**
   * The client's own identifier, or else `pred_` and 12 hexadecimal characters.
   */
  prediction_id: string;
  global: GlobalVerdict;
  /**
   * Id of the model that answered.
   */
  model: string;
  /**
   * Duration of the audio in seconds.
   */
  audio_duration: number;
  /**
   * One sentence per warning; empty if there are no warnings.
   */
  warnings: string[];
}

/**
 * Why the server ends the connection. It closes with 4000 plus `status`.
 */
export interface StreamError {
  type: 'error';
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
   * Line in errors.md.
   */
  key: string;
  message: string;
  status: number;
  /**
   * When another try can help.
   */
  retry_after_s?: number;
  /**
   * Identifies the request; the same UUID is in the header `x-correlation-id`.
   */
  correlation_id: string;
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
