// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { makeFolder, replaceFile } from '../data-folder/durable-file.js';
import { formatVersion } from '../data-folder/format-version.js';
import { type DeadlyInput, readCrashNotes } from './crash-notes.js';

/** Processes that an input may end before it is refused: one may be chance, such as failing memory. */
const MAX_DEATHS = 1;
/** The oldest are forgotten first. */
export const MAX_KNOWN_INPUTS = 1024;

const NOTES_SUFFIX = '.notes';
const FORMAT_VERSION = 1;

interface Known {
  readonly sha256: string;
  deaths: number;
  /** Of the last death. */
  signal: number;
}

/** Counts which inputs ended a process of this server, over restarts, in `crashes/` of the data folder. */
export class DeadlyInputs {
  readonly #dir: string;
  readonly #file: string;
  readonly #known: Known[];

  /** @throws Error when the folder cannot be made, or when the file in it is not ours */
  constructor(dataDir: string) {
    this.#dir = path.join(dataDir, 'crashes');
    this.#file = path.join(this.#dir, 'inputs.json');
    makeFolder(this.#dir);
    this.#known = readKnown(this.#file);
  }

  /** The file for a process's notes. */
  notesFileOf(pid: number): string {
    return path.join(this.#dir, `${pid}${NOTES_SUFFIX}`);
  }

  /** SHA-256 of those to refuse, in hexadecimal digits. */
  get refused(): readonly string[] {
    return this.#known.filter(({ deaths }) => deaths > MAX_DEATHS).map(({ sha256 }) => sha256);
  }

  /** Takes up the notes of every process that is gone. Only before the first one starts. */
  collectAll(): DeadlyInput[] {
    return this.#collect(fs.readdirSync(this.#dir).filter((name) => name.endsWith(NOTES_SUFFIX)));
  }

  /** Takes up the notes of a process that has ended. */
  collect(pid: number): DeadlyInput[] {
    return this.#collect([path.basename(this.notesFileOf(pid))]);
  }

  #collect(names: readonly string[]): DeadlyInput[] {
    const files = names.map((name) => path.join(this.#dir, name)).filter((file) => fs.existsSync(file));
    const deadly = files.flatMap(readCrashNotes);
    for (const { sha256, signal } of deadly) this.#count(sha256, signal);
    if (deadly.length > 0) this.#write();
    for (const file of files) fs.rmSync(file, { force: true });
    return deadly;
  }

  #count(sha256: string, signal: number): void {
    const known = this.#known.find((input) => input.sha256 === sha256);
    if (known !== undefined) {
      known.deaths++;
      known.signal = signal;
      return;
    }
    this.#known.push({ sha256, deaths: 1, signal });
    if (this.#known.length > MAX_KNOWN_INPUTS) this.#known.shift();
  }

  #write(): void {
    const content = { version: FORMAT_VERSION, inputs: this.#known };
    replaceFile(this.#file, `${JSON.stringify(content, undefined, 2)}\n`);
  }
}

function readKnown(file: string): Known[] {
  if (!fs.existsSync(file)) return [];
  try {
    const content: unknown = JSON.parse(fs.readFileSync(file, 'utf8'));
    formatVersion(content, FORMAT_VERSION);
    return (content as { inputs: Known[] }).inputs;
  } catch (error) {
    throw new Error(`${file} cannot be used: ${(error as Error).message}`, { cause: error });
  }
}
