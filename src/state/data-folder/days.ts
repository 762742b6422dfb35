// SPDX-License-Identifier: Apache-2.0

/** The UTC day as files are named by it: 2026-11-21. */
export const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

/** The day in a file's name; undefined if the file is not one of ours. */
export const dayOfFile = (name: string): string | undefined => /^\d{4}-\d{2}-\d{2}(?=\.)/.exec(name)?.[0];
