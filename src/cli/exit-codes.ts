// SPDX-License-Identifier: Apache-2.0

/** Findings that scripts must be able to tell from success (0) and from a failure (1). docs/cli.md has all codes. */
export const exitCodes = {
  /** verify, identify: a human voice, but another one. */
  otherSpeaker: 3,
  /** predict: a result that --fail-on names. enroll, verify, identify: an AI-generated voice. */
  unwantedResult: 4,
} as const;
