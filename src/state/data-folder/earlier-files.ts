// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { namesIn } from './durable-file.js';

/** The data folder has files of a version without a database. */
class EarlierDataFolder extends Error {
  override readonly name = 'EarlierDataFolder';
}

/** Unreleased versions after 0.2 moved such files into the database, and left a file with this in its name. */
const MARK = 'moved-to-database';
const POINTS = 'operating-points.json';

/**
 * Versions up to 0.2 kept API keys, usage and operating points in files. Without them a server would start as if it were new.
 * @throws EarlierDataFolder
 */
export function refuseEarlierFiles(dataDir: string): void {
  const names = ['keys', 'usage'].flatMap((folder) =>
    namesIn(path.join(dataDir, folder)).map((name) => path.join(folder, name)),
  );
  const unread = names.filter((name) => name.endsWith('.json') && !name.includes(MARK));
  const isMoved = names.some((name) => name.includes(MARK));
  if (!isMoved && fs.existsSync(path.join(dataDir, POINTS))) unread.push(POINTS);
  if (unread.length === 0) return;
  throw new EarlierDataFolder(
    `The data folder ${dataDir} is of veravox 0.2 or earlier: this version does not read its ${unread[0]}. ` +
      `Move keys, usage and ${POINTS} out of it and make new keys, or set VERAVOX_DATA_DIR to another folder.`,
  );
}
