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

/** Recordings with more channels are only analysed as a mix. */
export const MAX_SEPARATE_CHANNELS = 8;

/** Minimum content of a voice sample. */
export interface SampleNeeds {
  readonly minDurationS: number;
  readonly minSpeechS: number;
}
export const enrollNeeds: SampleNeeds = { minDurationS: 10, minSpeechS: 3 };
export const verifyNeeds: SampleNeeds = { minDurationS: 1, minSpeechS: 1 };

/** Samples of one enrolment. */
export const MAX_SAMPLES = 10;
/**
 * Similarity of a sample with the others from which they count as one speaker's: chosen so that 98 % of three samples of
 * 5 s from one speaker are all accepted (models/voiceprint-1-2026-11-22.md).
 */
export const SAMPLES_AGREE_FROM = 0.3;
/** An enrolment with less speech or fewer samples could be better. */
export const GOOD_SPEECH_S = 15;
export const FEWEST_GOOD_SAMPLES = 3;

/** Voiceprints in one request to identify. */
export const MAX_VOICEPRINTS = 10_000;
/** Of their list: 3355 for each of 10,000, which enroll writes in about 2800. */
export const MAX_VOICEPRINTS_BYTES = 32 * 2 ** 20;
/** Of an id in such a list, as JSON writes it. */
export const MAX_LISTED_ID_BYTES = 512;
/** The best matches that one answer may name. */
export const MAX_MATCHES = 100;

/** Numbers in a voiceprint. */
export const EMBEDDING_SIZE = 256;
/** 64 for each number, about three times as many as programs usually write. */
export const MAX_VOICE_VECTOR_CHARS = 64 * EMBEDDING_SIZE;

/** Genuine recordings of a profile. */
export const MIN_PROFILE_RECORDINGS = 10;
/** The same in one request, and as many generated ones. */
export const MAX_PROFILE_RECORDINGS = 100;

/** Object keys in one request for upload links or deletion. */
export const MAX_KEYS = 100;
export const MAX_KEY_BYTES = 512;
/** Download links in one answer. */
export const MAX_LINKS = 1000;
