// SPDX-License-Identifier: Apache-2.0
import path from 'node:path';

/** Calls that contact others or leave something behind. */
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
];

/** Requests through it would go unnoticed. Programs go on without it, as on systems that do not have it. */
const deniedCall = 'io_uring_setup';

/** strace with arguments for the format that `outsideContacts` reads; the program and its arguments follow. */
export const straceCommand = (traceFile: string): readonly string[] => [
  'strace',
  // The traced program stays our child and gets our signals.
  '-D',
  '-f',
  '--seccomp-bpf',
  '-yy',
  '-s',
  '4096',
  '-e',
  `trace=${[...tracedCalls, deniedCall].join(',')}`,
  '-e',
  `inject=${deniedCall}:error=ENOSYS`,
  '-o',
  traceFile,
];

export interface Allowed {
  /** Folders and files that may be written, created and removed. */
  readonly paths: readonly string[];
  /** `host:port` at which the traced program answers its own clients. */
  readonly listening?: string;
}

/** Devices, and views of processes; nothing there is kept. */
const kernelPaths = ['/dev', '/proc'];

/** The lines of a trace with contacts or file changes that are not allowed. */
export function outsideContacts(trace: string, { paths, listening }: Allowed): string[] {
  const allowedPaths = [...paths, ...kernelPaths];
  const isAllowedPath = (file: string): boolean =>
    allowedPaths.some((folder) => file === folder || file.startsWith(`${folder}/`));
  return trace.split('\n').filter((line) => {
    const [, name = '', args = ''] = /^\d+ +(\w+)\((.*)$/.exec(line) ?? [];
    switch (name) {
      case '':
      case deniedCall:
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

/** The absolute paths among a call's arguments. */
function pathsIn(args: string): string[] {
  const paths: string[] = [];
  // strace shows a relative path after its folder, as in `AT_FDCWD</folder>`.
  for (const [, folder, text = ''] of args.matchAll(/(?:<([^<>"]*)>, )?"([^"]*)"/g)) {
    paths.push(path.resolve(folder ?? '/', text));
  }
  return paths;
}
