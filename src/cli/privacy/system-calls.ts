// SPDX-License-Identifier: Apache-2.0
import path from 'node:path';

/** Calls with which a process reaches out or leaves something behind. */
const tracedCalls = [
  'connect',
  'sendto',
  'sendmsg',
  'sendmmsg',
  'socket',
  'open',
  'openat',
  'openat2',
  'creat',
  'truncate',
  'mkdir',
  'mkdirat',
  'mknod',
  'mknodat',
  'rename',
  'renameat',
  'renameat2',
  'link',
  'linkat',
  'symlink',
  'symlinkat',
  'unlink',
  'unlinkat',
  'rmdir',
  // Its requests would not be seen.
  'io_uring_setup',
];

/** strace with the arguments that make it write what `outsideContacts` reads; the program and its arguments follow. */
export const straceCommand = (traceFile: string): readonly string[] => [
  'strace',
  // The traced program stays the caller's child, and gets its signals.
  '-D',
  '-f',
  '--seccomp-bpf',
  '-yy',
  '-s',
  '4096',
  '-e',
  `trace=${tracedCalls.join(',')}`,
  '-o',
  traceFile,
];

export interface Allowed {
  /** Folders and files that may be written, made and removed. */
  readonly paths: readonly string[];
  /** `host:port` at which the traced program answers its own clients. */
  readonly listening?: string;
}

/** Devices, and views of processes; nothing there is kept. */
const kernelPaths = ['/dev', '/proc'];

/** The lines of a trace in which the program contacts somebody, or changes files, beyond what is allowed. */
export function outsideContacts(trace: string, { paths, listening }: Allowed): string[] {
  const allowedPaths = [...paths, ...kernelPaths];
  const isAllowedPath = (file: string): boolean =>
    allowedPaths.some((folder) => file === folder || file.startsWith(`${folder}/`));
  return trace.split('\n').filter((line) => {
    const [, name = '', args = ''] = /^\d+ +(\w+)\((.*)$/.exec(line) ?? [];
    switch (name) {
      case '':
        return false;
      case 'connect':
        return true;
      case 'socket':
        return /^AF_INET6?, SOCK_DGRAM/.test(args);
      case 'sendto':
      case 'sendmsg':
      case 'sendmmsg':
        return listening === undefined || !args.replace(/^\d+/, '').startsWith(`<TCP:[${listening}->`);
      case 'open':
      case 'openat':
      case 'openat2':
        if (!/O_CREAT|O_WRONLY|O_RDWR/.test(args)) return false;
    }
    const changed = pathsIn(args);
    return changed.length === 0 || !changed.every(isAllowedPath);
  });
}

/** The paths among a call's arguments, absolute; an empty array where it has none. */
function pathsIn(args: string): string[] {
  const paths: string[] = [];
  // A path may follow the folder that it is relative to, which strace shows as `AT_FDCWD</folder>`.
  for (const [, folder, text = ''] of args.matchAll(/(?:<([^<>"]*)>, )?"([^"]*)"/g)) {
    paths.push(path.resolve(folder ?? '/', text));
  }
  return paths;
}
