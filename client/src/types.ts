// SPDX-License-Identifier: Apache-2.0
//
// Made by `npm run docs` from the schemas that the server validates by. Do not edit.

export interface PredictFields {
  /** Where the recording comes from. */
  readonly device?: 'macos' | 'windows' | 'web_app' | 'api';
  /** The detector; the server says which there are. */
  readonly model?: string;
  /** The caller's own identifier of the prediction; one is made where there is none. */
  readonly prediction_id?: string;
  /** From which score a window is spoofed. A lower one finds more AI-generated voices, a higher one accuses fewer people. Or the name of an operating point that the server's operator has found for the model. */
  readonly threshold?: number | string;
  /** Percent of non-speech above which a window is left out; 100 analyses every window. */
  readonly silence_threshold?: number;
}

export interface LargeFileFields {
  /** Where the recording comes from. */
  readonly device?: 'macos' | 'windows' | 'web_app' | 'api';
  /** The detector; the server says which there are. */
  readonly model?: string;
  /** The caller's own identifier of the prediction; one is made where there is none. */
  readonly prediction_id?: string;
  /** The file's original name, for reference. */
  readonly filename?: string;
}

export interface EnrollFields {
  /** The caller's own identifier of the speaker; nothing is kept or looked up under it. */
  readonly user_id?: string;
}

export interface VerifyFields {
  /** The caller's own identifier of the speaker; nothing is kept or looked up under it. */
  readonly user_id?: string;
  /** The embedding that enroll has answered: a JSON array, or base64 of little-endian float32. */
  readonly voice_vector: string;
}

export interface GlobalVerdict {
  /** Probability of being AI-generated. */
  readonly score: number;
  /** How far the raw score is from the threshold, 0 to 1. */
  readonly confidence: number;
  /** `spoofed` is AI-generated, `bonafide` human. */
  readonly result: 'spoofed' | 'bonafide';
  /** Null, or a code that says why the verdict should not be taken as it stands. */
  readonly reason: string | null;
}

export interface Segment {
  /** Start of the window in seconds. */
  readonly start: number;
  /** End of the window in seconds. */
  readonly end: number;
  /** Raw scores of the window. */
  readonly scores: readonly number[];
  /** How far the raw score is from the threshold, 0 to 1. */
  readonly confidence: number;
  /** `spoofed` is AI-generated, `bonafide` human. */
  readonly result: 'spoofed' | 'bonafide';
}

export interface Prediction {
  /** The caller's own identifier, else `pred_` and 12 hexadecimal characters. */
  readonly prediction_id: string;
  readonly global: GlobalVerdict;
  /** One entry per analysed window. */
  readonly segments: readonly Segment[];
  /** Identifier of the model that was used. */
  readonly model: string;
  /** Seconds that the request took. */
  readonly processing_time: number;
  /** Duration of the audio in seconds. */
  readonly audio_duration: number;
  /** One sentence per warning; empty when there is none. */
  readonly warnings: readonly string[];
}

export interface LargeFileGlobalVerdict {
  /** How far the raw score is from the threshold, 0 to 1. */
  readonly confidence: number;
  /** `spoofed` is AI-generated, `bonafide` human. */
  readonly result: 'spoofed' | 'bonafide';
  /** Null, or a code that says why the verdict should not be taken as it stands. */
  readonly reason: string | null;
}

export interface LargeFileSegment {
  /** Zero-based position. */
  readonly index: number;
  /** Start of the window in seconds. */
  readonly start: number;
  /** End of the window in seconds. */
  readonly end: number;
  /** How far the raw score is from the threshold, 0 to 1. */
  readonly confidence: number;
  /** `spoofed` is AI-generated, `bonafide` human. */
  readonly result: 'spoofed' | 'bonafide';
}

export interface LargeFilePrediction {
  /** The caller's own identifier, else `pred_` and 12 hexadecimal characters. */
  readonly prediction_id: string;
  readonly global: LargeFileGlobalVerdict;
  /** One entry per analysed window. */
  readonly segments: readonly LargeFileSegment[];
  /** Identifier of the model that was used. */
  readonly model: string;
  /** Seconds that the request took. */
  readonly processing_time: number;
  /** Duration of the audio in seconds. */
  readonly audio_duration: number;
  /** One sentence per warning; empty when there is none. */
  readonly warnings: readonly string[];
}

export interface Enrollment {
  /** The voiceprint: numbers of float32 precision. */
  readonly embedding: readonly number[];
  /** Seconds that the request took. */
  readonly processing_time: number;
  /** Identifier of the model that was used. */
  readonly model_version: string;
  /** Whether the sample was checked for being AI-generated. */
  readonly deepfake_checked: boolean;
}

export interface Verification {
  /** Whether the sample matches the voiceprint. */
  readonly is_match: boolean;
  /** Calibrated similarity. */
  readonly similarity_score: number;
  /** How far the similarity is from the model's operating point. */
  readonly confidence_score: number;
  /** Seconds that the request took. */
  readonly processing_time: number;
  /** Identifier of the model that was used. */
  readonly model_version: string;
  /** Null when the voice is authentic or was not checked. */
  readonly deepfake_score: number | null;
}

export interface LinkList {
  /** One entry per object. */
  readonly url: readonly {
    /** The object key, as `<entity>/<key>`. */
    readonly key: string;
    /** A presigned link to the object storage. */
    readonly value: string;
  }[];
}

export interface DeletedFiles {
  /** The object keys, as `<entity>/<key>`. */
  readonly deleted: readonly string[];
}

export interface ErrorBody {
  /** Machine-readable code. */
  readonly error:
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
  /** Explanation for people. */
  readonly message: string;
  /** The HTTP status code. */
  readonly status: number;
  /** Identifies the request; the same UUID is in the header `x-correlation-id`. */
  readonly correlation_id: string;
}

export interface ForbiddenErrorBody {
  readonly statusCode: 403;
  readonly message: {
    /** Explanation for people, with the confidence as a percentage. */
    readonly detail: string;
    readonly type: 'forbidden_error';
    /** Identifies the request; the same UUID is in the header `x-correlation-id`. */
    readonly correlation_id: string;
    /** When, as ISO 8601 in UTC. */
    readonly timestamp: string;
  };
}
