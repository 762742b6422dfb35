// SPDX-License-Identifier: Apache-2.0

/** Calls of the operating system that name a file; others, such as `connect`, mean something else by the same codes. */
const fileCalls = new Set([
  'access',
  'copyfile',
  'lstat',
  'mkdir',
  'open',
  'read',
  'readlink',
  'realpath',
  'scandir',
  'rename',
  'stat',
  'statfs',
  'unlink',
  'write',
]);

const problems: Readonly<Record<string, string>> = {
  ENOENT: 'There is no such file or folder',
  ENOTDIR: 'Part of the path is not a folder',
  EISDIR: 'Expected a file but received a folder',
  EACCES: 'Permission was denied',
  EPERM: 'Permission was denied',
  ELOOP: 'The symbolic links lead nowhere',
  ENAMETOOLONG: 'The name is too long',
  EROFS: 'The file system is read-only',
  ENOSPC: 'The disk is full',
  EIO: 'The disk cannot be read',
};

/**
 * An error's message for people. The operating system's messages about files become sentences.
 * @param file is not repeated, because the reader sees it already
 */
export function messageOf(error: unknown, file?: string): string {
  if (!(error instanceof Error)) return String(error);
  const { code = '', syscall = '', path } = error as NodeJS.ErrnoException;
  const problem = fileCalls.has(syscall) ? problems[code] : undefined;
  if (problem === undefined) return error.message;
  return path === undefined || path === file ? `${problem}.` : `${problem}: ${path}.`;
}
