// SPDX-License-Identifier: Apache-2.0

/**
 * Checks the version that a data file carries. Files from before there were versions have none, which is version 1.
 * @param newest the newest that this program knows
 * @returns the file's version, for a reader to migrate older content
 * @throws Error with the way out, without naming the file
 */
export function formatVersion(value: unknown, newest: number): number {
  const { version = 1 } = (typeof value === 'object' && value !== null ? value : {}) as { version?: unknown };
  if (!Number.isSafeInteger(version) || Number(version) < 1) {
    throw new Error('Expected a whole number from 1 for version.');
  }
  if (Number(version) > newest) {
    throw new NewerFormatError(
      `it has version ${version}, but this program supports versions up to ${newest}. A newer veravox wrote it: use that one.`,
    );
  }
  return Number(version);
}

/** The fault lies with the program, not the file. */
export class NewerFormatError extends Error {
  override readonly name = 'NewerFormatError';
}
