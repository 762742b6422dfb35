// SPDX-License-Identifier: Apache-2.0
//
// Made by `npm run docs` from the schemas that the server validates by. Do not edit.

export interface PredictFields {
  /**
   * Where the recording comes from.
   */
  device?: 'macos' | 'windows' | 'web_app' | 'api';
  /**
   * The detector; the server says which there are.
   */
  model?: string;
  /**
   * The caller's own identifier of the prediction; one is made where there is none.
   */
  prediction_id?: string;
  /**
   * From which score a window is spoofed. A lower one finds more AI-generated voices, a higher one accuses fewer people. Or the name of an operating point that the server's operator has found for the model.
   */
  threshold?: number | string;
  /**
   * Percent of non-speech above which a window is left out; 100 analyses every window.
   */
  silence_threshold?: number;
}

export interface LargeFileFields {
  /**
   * Where the recording comes from.
   */
  device?: 'macos' | 'windows' | 'web_app' | 'api';
  /**
   * The detector; the server says which there are.
   */
  model?: string;
  /**
   * The caller's own identifier of the prediction; one is made where there is none.
   */
  prediction_id?: string;
  /**
   * The file's original name, for reference.
   */
  filename?: string;
}

export interface EnrollFields {
  /**
   * The caller's own identifier of the speaker; nothing is kept or looked up under it.
   */
  user_id?: string;
}

export interface VerifyFields {
  /**
   * The caller's own identifier of the speaker; nothing is kept or looked up under it.
   */
  user_id?: string;
  /**
   * The embedding that enroll has answered: a JSON array, or base64 of little-endian float32.
   */
  voice_vector: string;
}

export interface GlobalVerdict {
  /**
   * Probability of being AI-generated.
   */
  score: number;
  /**
   * How far the raw score is from the threshold, 0 to 1.
   */
  confidence: number;
  /**
   * `spoofed` is AI-generated, `bonafide` human.
   */
  result: 'spoofed' | 'bonafide';
  /**
   * Null, or a code that says why the verdict should not be taken as it stands.
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
   * Raw scores of the window.
   *
   * Items: Probability of being AI-generated.
   */
  scores: number[];
  /**
   * How far the raw score is from the threshold, 0 to 1.
   */
  confidence: number;
  /**
   * `spoofed` is AI-generated, `bonafide` human.
   */
  result: 'spoofed' | 'bonafide';
}

export interface Prediction {
  /**
   * The caller's own identifier, else `pred_` and 12 hexadecimal characters.
   */
  prediction_id: string;
  global: GlobalVerdict;
  /**
   * One entry per analysed window.
   */
  segments: Segment[];
  /**
   * Identifier of the model that was used.
   */
  model: string;
  /**
   * Seconds that the request took.
   */
  processing_time: number;
  /**
   * Duration of the audio in seconds.
   */
  audio_duration: number;
  /**
   * One sentence per warning; empty when there is none.
   */
  warnings: string[];
}

export interface LargeFileGlobalVerdict {
  /**
   * How far the raw score is from the threshold, 0 to 1.
   */
  confidence: number;
  /**
   * `spoofed` is AI-generated, `bonafide` human.
   */
  result: 'spoofed' | 'bonafide';
  /**
   * Null, or a code that says why the verdict should not be taken as it stands.
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
   * How far the raw score is from the threshold, 0 to 1.
   */
  confidence: number;
  /**
   * `spoofed` is AI-generated, `bonafide` human.
   */
  result: 'spoofed' | 'bonafide';
}

export interface LargeFilePrediction {
  /**
   * The caller's own identifier, else `pred_` and 12 hexadecimal characters.
   */
  prediction_id: string;
  global: LargeFileGlobalVerdict;
  /**
   * One entry per analysed window.
   */
  segments: LargeFileSegment[];
  /**
   * Identifier of the model that was used.
   */
  model: string;
  /**
   * Seconds that the request took.
   */
  processing_time: number;
  /**
   * Duration of the audio in seconds.
   */
  audio_duration: number;
  /**
   * One sentence per warning; empty when there is none.
   */
  warnings: string[];
}

export interface Enrollment {
  /**
   * The voiceprint: numbers of float32 precision.
   */
  embedding: number[];
  /**
   * Seconds that the request took.
   */
  processing_time: number;
  /**
   * Identifier of the model that was used.
   */
  model_version: string;
  /**
   * Whether the sample was checked for being AI-generated.
   */
  deepfake_checked: boolean;
}

export interface Verification {
  /**
   * Whether the sample matches the voiceprint.
   */
  is_match: boolean;
  /**
   * Calibrated similarity.
   */
  similarity_score: number;
  /**
   * How far the similarity is from the model's operating point.
   */
  confidence_score: number;
  /**
   * Seconds that the request took.
   */
  processing_time: number;
  /**
   * Identifier of the model that was used.
   */
  model_version: string;
  /**
   * Null when the voice is authentic or was not checked.
   */
  deepfake_score: number | null;
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
     * When, as ISO 8601 in UTC.
     */
    timestamp: string;
  };
}
