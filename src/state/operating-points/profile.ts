// SPDX-License-Identifier: Apache-2.0
import type { MeasuredErrors } from './operating-point.js';

/**
 * A decrease of a detector's log-odds near the recordings of one channel: none up to `from`, `strength` from `to` on, along a
 * direction of the vectors inside the detector.
 */
export interface ScoreCorrection {
  /** A unit vector: little-endian float32 in base64. */
  readonly direction: string;
  readonly from: number;
  readonly to: number;
  /** At most, in log-odds. */
  readonly strength: number;
}

/** Errors at threshold 0.5. */
export interface ErrorsWithAndWithout {
  readonly without: MeasuredErrors;
  readonly with: MeasuredErrors;
}

/** A correction of one model's scores for one channel, under a name. */
export interface Profile {
  /** The account that alone may use it; absent if all may. */
  readonly account?: string;
  /** From 1 on, for each name and model. */
  readonly version: number;
  readonly name: string;
  /** The model's id, never an alias. */
  readonly model: string;
  /** Of the model's file; for readers of the JSON. */
  readonly model_sha256: string;
  /** Of everything that a score depends on: the profile holds for no other. */
  readonly fingerprint: string;
  readonly correction: ScoreCorrection;
  readonly recordings: { readonly genuine: number; readonly generated: number };
  readonly measured: {
    /** Genuine recordings called spoofed, each with a correction made without it. */
    readonly flagged: ErrorsWithAndWithout;
    /** AI-generated speech of many systems called human: vectors that come with the model. */
    readonly passed: ErrorsWithAndWithout;
    /** The given AI-generated recordings called human; null without any. */
    readonly passed_own: ErrorsWithAndWithout | null;
  };
  readonly created_at: string;
}

/** A profile that gets its version when it is saved. */
export type NewProfile = Omit<Profile, 'version'>;

/** One of the versions of a profile. */
export interface ProfileVersion extends Profile {
  /** Requests that name the profile mean this one. */
  readonly isInUse: boolean;
}
