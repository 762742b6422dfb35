// SPDX-License-Identifier: Apache-2.0
import path from 'node:path';
import { auditFiles, type ChainHead, chainFiles, readHead, withChain } from './audit-chain.js';
import { type ChainedLine, type ChainState, chainStart, follows, parseChainedLine } from './chained-line.js';
import { fileLines } from './file-lines.js';

export interface AuditFindings {
  /** Each names a file and a line. */
  readonly problems: readonly string[];
  /** Missing lines that were noted when they were lost, and parts that cannot be checked. */
  readonly remarks: readonly string[];
  readonly files: number;
  readonly lines: number;
  /** The last line that was read, to be kept elsewhere: later findings can be held against it. */
  readonly last: ChainState;
}

/** A line that was seen earlier, by its number and hash. */
export type Witness = ChainState;

/**
 * Reads all audit lines of a folder and checks that none is missing, was changed or changed places. Servers may go on writing
 * meanwhile: their new lines are left out.
 */
export async function verifyAudit(dir: string, witness?: Witness): Promise<AuditFindings> {
  const { head, files, others } = await withChain(dir, async () => {
    const chained = await chainFiles(dir);
    const names = new Set(chained.map(({ file }) => file));
    const unchained = (await auditFiles(dir)).filter((file) => !names.has(file));
    return { head: await readHead(dir), files: chained, others: unchained };
  });
  const check = new ChainCheck(witness);
  for (const { file, bytes } of files) await check.read(dir, file, bytes);
  check.finish(head);
  const remarks = others.map((file) => `${file} is from before lines were chained, and cannot be checked`);
  return {
    problems: check.problems,
    remarks: [...remarks, ...check.remarks],
    files: files.length,
    lines: check.lines,
    last: check.state ?? chainStart,
  };
}

/** Bytes that are no line of the chain, until the line that must explain them. */
interface Rubbish {
  readonly place: string;
  bytes: number;
}

class ChainCheck {
  readonly problems: string[] = [];
  readonly remarks: string[] = [];
  lines = 0;
  state: ChainState | undefined;
  readonly #witness: Witness | undefined;
  #isWitnessSeen = false;
  #firstSeq = 0;
  #removedUpToSeq = 0;
  #lastPlace = '';
  #rubbish: Rubbish | undefined;

  constructor(witness: Witness | undefined) {
    this.#witness = witness;
  }

  async read(dir: string, file: string, bytes: number): Promise<void> {
    let number = 0;
    for await (const line of fileLines(path.join(dir, file), 0, bytes)) {
      const place = `${file}:${++number}`;
      const chained = parseChainedLine(line.text);
      if (chained === undefined) this.#addRubbish(place, line.bytes);
      else this.#check(place, chained, line.text);
    }
  }

  finish(head: ChainHead | undefined): void {
    this.#judgeRubbish(undefined);
    if (this.#firstSeq > 1 && this.#removedUpToSeq < this.#firstSeq - 1) {
      this.problems.push(
        `the first line is ${this.#firstSeq}: those before it are missing, and no line says that their time was over`,
      );
    }
    this.#checkEnd(head);
    if (this.#witness !== undefined && !this.#isWitnessSeen) {
      this.problems.push(`there is no line ${this.#witness.seq} with the hash ${this.#witness.hash}`);
    }
  }

  #check(place: string, line: ChainedLine, text: string): void {
    this.#judgeRubbish(text);
    const before = this.state ?? (line.seq === 1 ? chainStart : undefined);
    if (before === undefined) this.#firstSeq = line.seq;
    else if (line.seq > before.seq + 1) {
      this.problems.push(`${place}: ${span(before.seq + 1, line.seq - 1)} missing before this line`);
    } else if (line.seq <= before.seq) {
      this.problems.push(`${place}: line ${line.seq} stands where ${before.seq + 1} was expected`);
    } else if (!follows(line, before)) {
      this.problems.push(`${place}: line ${line.seq} was changed`);
    }
    this.#firstSeq ||= line.seq;
    this.state = line;
    this.lines++;
    this.#lastPlace = place;
    const witness = this.#witness;
    if (witness?.seq === line.seq && witness.hash === line.hash) this.#isWitnessSeen = true;
    if (text.includes('"event":')) this.#readEvent(place, text);
  }

  #readEvent(place: string, text: string): void {
    const { event, ...fields } = eventOf(text);
    if (event === 'files_removed') {
      this.#removedUpToSeq = Math.max(this.#removedUpToSeq, Number(fields.throughSeq));
    } else if (event === 'lines_lost') {
      const { ofStrangers, refusals, noRoom } = fields;
      const lost = Number(ofStrangers) + Number(refusals) + Number(noRoom);
      this.remarks.push(`${place}: ${lost} lines were not written at that time`);
    } else if (event === 'head_lost') {
      this.problems.push(`${place}: head.json was missing or damaged when this line was written`);
    }
  }

  #addRubbish(place: string, bytes: number): void {
    this.#rubbish ??= { place, bytes: 0 };
    this.#rubbish.bytes += bytes;
  }

  /** A crash leaves half a line, and the next writer says how long it is; a line break may have been added to it. */
  #judgeRubbish(nextLine: string | undefined): void {
    const rubbish = this.#rubbish;
    if (rubbish === undefined) return;
    this.#rubbish = undefined;
    const { event, bytes } = nextLine === undefined ? { event: '', bytes: 0 } : eventOf(nextLine);
    const isExplained = event === 'torn_line' && [rubbish.bytes, rubbish.bytes - 1].includes(Number(bytes));
    if (isExplained) this.remarks.push(`${rubbish.place}: half a line, which the next one explains`);
    else this.problems.push(`${rubbish.place}: this is no line of the chain`);
  }

  #checkEnd(head: ChainHead | undefined): void {
    const { seq, hash } = this.state ?? chainStart;
    if (head === undefined) {
      if (seq > 0)
        this.problems.push('head.json is missing or damaged: whether the end is missing is not known');
    } else if (head.seq > seq) {
      const place = this.#lastPlace === '' ? head.file : this.#lastPlace;
      this.problems.push(`${place}: ${span(seq + 1, head.seq)} missing behind this line`);
    } else if (head.seq === seq && head.hash !== hash) {
      this.problems.push(`${this.#lastPlace}: the last line is not the one that head.json names`);
    }
  }
}

const span = (first: number, last: number): string =>
  first === last ? `line ${first} is` : `lines ${first} to ${last} are`;

function eventOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
