// SPDX-License-Identifier: Apache-2.0
//
// Numbers of the interface that no setting changes.

/** Scores from here count as AI-generated, unless the request sets another threshold. */
export const DEFAULT_THRESHOLD = 0.5;
/** Windows with more non-speech are skipped, unless the request sets another limit. */
export const DEFAULT_SILENCE_THRESHOLD_PERCENT = 80;

/** Shorter audio is refused by v1. */
export const MIN_DURATION_S = 1;
/** Shorter audio is refused by v0. */
export const MIN_LEGACY_DURATION_S = 3;
/** `/v1/predict/large-file` refuses smaller files. */
export const MIN_LARGE_FILE_BYTES = 5_000_000;
/** The largest file in v0, uploaded or behind a link. */
export const MAX_LEGACY_FILE_BYTES = 4_000_000;

/** Minimum content of a voice sample. */
export interface SampleNeeds {
  readonly minDurationS: number;
  readonly minSpeechS: number;
}
export const enrollNeeds: SampleNeeds = { minDurationS: 10, minSpeechS: 3 };
export const verifyNeeds: SampleNeeds = { minDurationS: 1, minSpeechS: 1 };

/** Numbers in a voiceprint. */
export const EMBEDDING_SIZE = 256;
/** 64 for each number, about three times as many as programs usually write. */
export const MAX_VOICE_VECTOR_CHARS = 64 * EMBEDDING_SIZE;

/** Object keys in one request for upload links or deletion. */
export const MAX_KEYS = 100;
export const MAX_KEY_BYTES = 512;
/** Download links in one answer. */
export const MAX_LINKS = 1000;
