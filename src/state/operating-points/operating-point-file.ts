// SPDX-License-Identifier: Apache-2.0
//
// Operating points as they were kept before there was a database: `<dataDir>/operating-points.json`.
import fs from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { ownSchemas } from '../../base/config/own-schemas.js';
import { syncFolder } from '../data-folder/durable-file.js';
import { formatVersion, NewerFormatError } from '../data-folder/format-version.js';
import { MOVED_SUFFIX, markAsMoved, refuseEarlierPrograms } from '../data-folder/moved-files.js';
import { type OperatingPoint, type OperatingPointFile, operatingPointFileSchema } from './operating-point.js';
import type { OperatingPointRegistry } from './operating-point-registry.js';

/** The operating points on disk cannot be used; the message names the file and what is wrong with it. */
export class OperatingPointFileError extends Error {
  override readonly name = 'OperatingPointFileError';
}

/** Of files; the one in their place has the next. */
const VERSION = 1;

const fileIn = (dataDir: string): string => path.join(dataDir, 'operating-points.json');
/** The file while its contents are moved: an earlier program that looks for it finds the mark already. */
const movingIn = (dataDir: string): string => `${fileIn(dataDir)}.moving`;

/** The file whose points are not in the database yet. */
export function earlierPointFile(dataDir: string): string | undefined {
  const [file, moving] = [fileIn(dataDir), movingIn(dataDir)];
  if (fs.existsSync(file) && !isMark(file)) return file;
  return fs.existsSync(moving) ? moving : undefined;
}

/**
 * All points of a file.
 * @throws OperatingPointFileError, or the file system's error if it cannot be read
 */
export function readPointFile(file: string): readonly OperatingPoint[] {
  const damaged = (problem: string, cause?: unknown): OperatingPointFileError =>
    new OperatingPointFileError(
      `The operating points in ${file} cannot be used: ${problem}. Restore the file, or delete it and calibrate again.`,
      { cause },
    );
  const text = fs.readFileSync(file, 'utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
    formatVersion(value, VERSION);
  } catch (error) {
    if (!(error instanceof NewerFormatError)) throw damaged((error as Error).message, error);
    throw new OperatingPointFileError(`The operating points in ${file} cannot be read: ${error.message}`, {
      cause: error,
    });
  }
  const isPointFile = new Ajv(ownSchemas).compile<OperatingPointFile>(operatingPointFileSchema);
  if (!isPointFile(value)) {
    const [problem] = isPointFile.errors ?? [];
    throw damaged(`${problem?.instancePath || 'the file'} ${problem?.message}`);
  }
  const keys = value.points.map(({ name, model }) => `${name} of ${model}`);
  const twice = keys.find((key, i) => keys.indexOf(key) !== i);
  if (twice !== undefined) throw damaged(`${twice} appears twice`);
  return value.points;
}

/**
 * Puts the points of the file into the database and sets the file aside. Repeating it changes nothing, so it may be killed at
 * any point.
 * @throws OperatingPointFileError; then nothing has changed
 */
export async function takeOverPointFile(dataDir: string, registry: OperatingPointRegistry): Promise<void> {
  const [file, moving] = [fileIn(dataDir), movingIn(dataDir)];
  const earlier = earlierPointFile(dataDir);
  const points = earlier === undefined ? [] : readPointFile(earlier);
  if (earlier === file) {
    // One that is there is from an attempt that an earlier program has not noticed.
    fs.rmSync(moving, { force: true });
    fs.linkSync(file, moving);
    markAsMoved(file);
  }
  refuseEarlierPrograms(file);
  if (earlier === undefined) return;
  await registry.add(points);
  fs.renameSync(moving, `${file}${MOVED_SUFFIX}`);
  syncFolder(dataDir);
}

function isMark(file: string): boolean {
  try {
    return (
      (JSON.parse(fs.readFileSync(file, 'utf8')) as { version?: unknown } | null)?.version === VERSION + 1
    );
  } catch {
    // Whoever reads it says why.
    return false;
  }
}
