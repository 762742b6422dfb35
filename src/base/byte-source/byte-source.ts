// SPDX-License-Identifier: Apache-2.0
//
// This room defines files that are read in ranges, such as a link, a stored file or S3, with retries and a
// minimum pace. A source notices if its file changes while it is read.

/** A file that is read in ranges and is never in memory as a whole. The holder closes it. */
export interface ByteSource {
  readonly bytes: number;
  /** The same for the same content, and another one if the file may have changed; holds no secret. */
  readonly identity: string;
  /**
   * Fills `into` with the bytes from `offset` on, all of which the file has. Tries again if that can help. Rejects with
   * ServiceError, FILE_CHANGED included, or with the signal's reason.
   */
  read(into: Uint8Array, offset: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
