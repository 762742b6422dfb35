// SPDX-License-Identifier: Apache-2.0
//
// The bodies as TypeScript sees them after they were checked against the schemas of src/contract.

type Result = 'spoofed' | 'bonafide';

export interface Segment {
  readonly start: number;
  readonly end: number;
  readonly scores: readonly number[];
  readonly confidence: number;
  readonly result: Result;
}

export interface Prediction {
  readonly prediction_id: string;
  readonly global: {
    readonly score: number;
    readonly confidence: number;
    readonly result: Result;
    readonly reason: string | null;
  };
  readonly segments: readonly Segment[];
  readonly model: string;
  readonly processing_time: number;
  readonly audio_duration: number;
  readonly warnings: readonly string[];
}

export interface LargeFilePrediction {
  readonly prediction_id: string;
  readonly global: { readonly confidence: number; readonly result: Result; readonly reason: string | null };
  readonly segments: readonly (Omit<Segment, 'scores'> & { readonly index: number })[];
  readonly model: string;
  readonly processing_time: number;
  readonly audio_duration: number;
  readonly warnings: readonly string[];
}

export interface LegacyPrediction {
  readonly predictions: readonly ('fake' | 'real')[];
  readonly global_probability: readonly number[];
  readonly error: readonly (string | null)[];
  readonly model: string;
  readonly processing_time: number;
  readonly audio_duration: number;
}

export interface Enrollment {
  readonly embedding: readonly number[];
  readonly processing_time: number;
  readonly model_version: string;
  readonly deepfake_checked: boolean;
}

export interface Verification {
  readonly is_match: boolean;
  readonly similarity_score: number;
  readonly confidence_score: number;
  readonly processing_time: number;
  readonly model_version: string;
  readonly deepfake_score: number | null;
}

export interface LinkList {
  readonly url: readonly { readonly key: string; readonly value: string }[];
}

export interface ErrorBody {
  readonly error: string;
  readonly message: string;
  readonly status: number;
  readonly correlation_id: string;
}

export interface ForbiddenBody {
  readonly statusCode: number;
  readonly message: {
    readonly detail: string;
    readonly type: string;
    readonly correlation_id: string;
    readonly timestamp: string;
  };
}
