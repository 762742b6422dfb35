// SPDX-License-Identifier: Apache-2.0
//
// A disk that is really full: a small file system of its own.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { noise } from './form-body.js';

export const MEBIBYTE = 1024 * 1024;
export const DISK_BYTES = 12 * MEBIBYTE;

function mount(folder: string, more = ''): void {
  const options = `size=${DISK_BYTES},mode=700${more}`;
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'pipe' });
}

export function removeMounted(folder: string): void {
  execFileSync('umount', ['-l', folder]);
  fs.rmSync(folder, { recursive: true, force: true });
}

/** Reason why none of these tests can run; undefined if they can. */
function whyNot(): string | undefined {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-mount-'));
  try {
    mount(folder);
  } catch (error) {
    fs.rmdirSync(folder);
    return `no file system can be mounted here: ${(error as Error).message.trim()}`;
  }
  removeMounted(folder);
  return undefined;
}

/** For tests that need one. */
export const onSmallDisk = { skip: whyNot() ?? false };

/** @param inodes by default as many as are ever needed */
export function mountSmallDisk(inodes?: number): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'veravox-small-disk-'));
  mount(folder, inodes === undefined ? '' : `,nr_inodes=${inodes}`);
  return folder;
}

/** Fills the disk. @returns the file that does */
export function fill(folder: string): string {
  const file = path.join(folder, 'other');
  const descriptor = fs.openSync(file, 'w');
  try {
    for (;;) fs.writeSync(descriptor, noise(4096));
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
  } finally {
    fs.closeSync(descriptor);
  }
  return file;
}
