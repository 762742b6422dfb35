// SPDX-License-Identifier: Apache-2.0
//
// Audit lines of all writers of a data folder (servers, their processes, commands) are one chain: numbered, each with a hash
// over itself and the hash before it, across all files. A writer holds a lock, continues behind the last line, and notes in
// `head.json` how far the chain has come, so that a missing end is also noticed.
import { type FileHandle, open, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { dayOfFile } from '../data-folder/days.js';
import { makeFolderLater, replaceFileLater, syncFolderLater } from '../data-folder/durable-file.js';
import { locked } from '../data-folder/file-lock.js';
import { formatVersion } from '../data-folder/format-version.js';
import { type ChainState, chainLine, chainStart, follows, parseChainedLine } from './chained-line.js';
import { fileLines } from './file-lines.js';

/** The end of the chain. */
export interface ChainHead extends ChainState {
  /** The file with the last line; empty before the first. */
  readonly file: string;
  /** Up to the end of the last line. */
  readonly bytes: number;
}

/** An event other than a request, named by `event`. */
export type AuditEvent = { readonly event: string } & Readonly<Record<string, unknown>>;

export interface AppendOptions {
  /** UTC day, as files are named by it. */
  readonly day: string;
  readonly time: Date;
}

const VERSION = 1;
/** Files of earlier versions have no chained line, and may be long. */
const LINES_LOOKED_AT = 100;
export const auditDir = (dataDir: string): string => path.join(dataDir, 'audit');
const headFile = (dir: string): string => path.join(dir, 'head.json');

/** Does the work while nobody appends. */
export async function withChain<Result>(dir: string, work: () => Promise<Result>): Promise<Result> {
  await makeFolderLater(dir);
  return locked(path.join(dir, 'chain.lock'), work);
}

/** Appends lines, each of them JSON of an object, whole or not at all. Resolves when they would outlive a power failure. */
export async function appendToChain(
  dir: string,
  lines: readonly string[],
  { day, time }: AppendOptions,
): Promise<void> {
  await withChain(dir, async () => {
    const { head, isTorn, notes } = await findEnd(dir, await readHead(dir));
    const file = dayOfFile(head.file) === day ? head.file : await newFileName(dir, day);
    const noted = notes.map((note) => JSON.stringify({ time: time.toISOString(), ...note }));
    let state: ChainState = head;
    let text = isTorn && file === head.file ? '\n' : '';
    for (const json of [...noted, ...lines]) {
      const line = chainLine(json, state);
      state = line;
      text += line.text;
    }
    // With none, a crash before the first note would look as if somebody had removed it.
    if (head.file === '') await writeHead(dir, head);
    await appendText(path.join(dir, file), text, async (bytes) => {
      if (file !== head.file) await syncFolderLater(dir);
      try {
        await writeHead(dir, { seq: state.seq, hash: state.hash, file, bytes });
      } catch (error) {
        // Without the lines, a note that has arrived all the same would tell of missing ones.
        if ((await readHead(dir))?.hash !== state.hash) throw error;
      }
    });
  });
}

/** @returns undefined if it is missing or cannot be read */
export async function readHead(dir: string): Promise<ChainHead | undefined> {
  let text: string;
  try {
    text = await readFile(headFile(dir), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  let head: ChainHead;
  try {
    head = JSON.parse(text) as ChainHead;
  } catch {
    return undefined;
  }
  formatVersion(head, VERSION);
  const { seq, hash, file, bytes } = head;
  const isHead =
    Number.isSafeInteger(seq) &&
    /^[0-9a-f]{64}$/.test(hash) &&
    path.basename(file) === file &&
    Number.isSafeInteger(bytes);
  return isHead ? head : undefined;
}

async function writeHead(dir: string, head: ChainHead): Promise<void> {
  await replaceFileLater(headFile(dir), `${JSON.stringify({ version: VERSION, ...head })}\n`);
}

/** Files of a chain in its order, with the number of the first line of each; others are left out. */
export async function chainFiles(dir: string): Promise<{ file: string; firstSeq: number; bytes: number }[]> {
  const files: { file: string; firstSeq: number; bytes: number }[] = [];
  for (const file of await auditFiles(dir)) {
    const { size: bytes } = await stat(path.join(dir, file));
    let looked = 0;
    for await (const { text } of fileLines(path.join(dir, file), 0, bytes)) {
      const line = parseChainedLine(text);
      if (line !== undefined) files.push({ file, firstSeq: line.seq, bytes });
      if (line !== undefined || ++looked === LINES_LOOKED_AT) break;
    }
  }
  return files.sort((a, b) => a.firstSeq - b.firstSeq);
}

export async function auditFiles(dir: string): Promise<string[]> {
  const names = await readdir(dir);
  return names.filter((name) => dayOfFile(name) !== undefined && name.endsWith('.jsonl')).sort();
}

interface End {
  readonly head: ChainHead;
  /** Half a line stands behind the last one. */
  readonly isTorn: boolean;
  /** Notes that must come before the chain goes on. */
  readonly notes: readonly AuditEvent[];
}

/** The end of the chain, which a crash or tampering may have left unlike the noted one. */
async function findEnd(dir: string, noted: ChainHead | undefined): Promise<End> {
  const notes: AuditEvent[] = [];
  let start = noted;
  if (start === undefined || start.file === '') {
    const files = await chainFiles(dir);
    const last = files.at(-1);
    if (last === undefined) return { head: emptyHead, isTorn: false, notes: [{ event: 'chain_started' }] };
    if (start !== undefined && files.length === 1) {
      // A crash came between the first lines and their note.
      start = { ...emptyHead, file: last.file };
    } else {
      notes.push({ event: 'head_lost' });
      start = await stateBefore(dir, last);
    }
  }
  const { file } = start;
  const bytes = await sizeOf(path.join(dir, file));
  if (bytes < start.bytes) {
    notes.push({ event: 'lines_missing', file, missingBytes: start.bytes - bytes, upToSeq: start.seq });
    const isTorn = bytes > 0 && !(await endsWithBreak(path.join(dir, file), bytes));
    return { head: { ...start, bytes }, isTorn, notes };
  }
  let end = start;
  let isBroken = false;
  for await (const line of fileLines(path.join(dir, file), start.bytes, bytes)) {
    const chained = isBroken ? undefined : parseChainedLine(line.text);
    if (chained === undefined || !follows(chained, end)) isBroken = true;
    else end = { file, bytes: end.bytes + line.bytes, seq: chained.seq, hash: chained.hash };
  }
  const tornBytes = bytes - end.bytes;
  if (tornBytes === 0) return { head: end, isTorn: false, notes };
  notes.push({ event: 'torn_line', bytes: tornBytes });
  return { head: end, isTorn: !(await endsWithBreak(path.join(dir, file), bytes)), notes };
}

const emptyHead: ChainHead = { ...chainStart, file: '', bytes: 0 };

/** The first line of a file is taken at its word: its predecessor is not known. */
async function stateBefore(
  dir: string,
  { file, bytes }: { file: string; bytes: number },
): Promise<ChainHead> {
  let position = 0;
  for await (const line of fileLines(path.join(dir, file), 0, bytes)) {
    const first = parseChainedLine(line.text);
    position += line.bytes;
    if (first !== undefined) return { file, bytes: position, seq: first.seq, hash: first.hash };
  }
  return emptyHead;
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

async function endsWithBreak(file: string, bytes: number): Promise<boolean> {
  const handle = await open(file, 'r');
  try {
    const last = Buffer.alloc(1);
    await handle.read(last, 0, 1, bytes - 1);
    return last[0] === 10;
  } finally {
    await handle.close();
  }
}

/** A day that is left and comes back, by a clock that is set back, goes on in a file of its own: files never interleave. */
async function newFileName(dir: string, day: string): Promise<string> {
  const names = new Set(await readdir(dir));
  let name = `${day}.jsonl`;
  for (let part = 2; names.has(name); part++) name = `${day}.${part}.jsonl`;
  return name;
}

/** `note` gets the size of the file; if it fails, the text is taken back. */
async function appendText(file: string, text: string, note: (bytes: number) => Promise<void>): Promise<void> {
  const handle: FileHandle = await open(file, 'a', 0o600);
  try {
    const { size } = await handle.stat();
    try {
      await handle.appendFile(text);
      await handle.datasync();
      await note(size + Buffer.byteLength(text));
    } catch (error) {
      // A full disk: the lines are tried again later, and must not be there twice.
      await handle.truncate(size).catch(() => {});
      throw error;
    }
  } finally {
    await handle.close();
  }
}
