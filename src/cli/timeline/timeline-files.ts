// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import type { OfflinePages, TimelineEntry } from '../offline-pages.js';
import { STANDARD_INPUT } from '../standard-input.js';

/** A page for all recordings, or a folder with one for each. */
export class TimelineFiles {
  readonly #target: string;
  readonly #isFolder: boolean;
  readonly #pages: OfflinePages;
  readonly #taken = new Set<string>();
  readonly #entries: TimelineEntry[] = [];

  /** @throws Error if it cannot be written to, or is a file of another kind */
  constructor(target: string, pages: OfflinePages) {
    this.#target = target;
    this.#pages = pages;
    const isThere = fs.statSync(target, { throwIfNoEntry: false });
    const isPage = /\.html?$/i.test(target);
    // Such as a recording, if the shell put its name behind --html.
    if (isThere?.isFile() && !isPage) {
      throw new Error(
        `Expected a folder or a name that ends in .html for --html but received ${target}, a file.`,
      );
    }
    this.#isFolder = isThere?.isDirectory() ?? !isPage;
    // Before hours of work, not after them.
    if (this.#isFolder) fs.mkdirSync(target, { recursive: true });
    else fs.closeSync(fs.openSync(target, 'a'));
  }

  add(entry: TimelineEntry): void {
    if (this.#isFolder)
      fs.writeFileSync(path.join(this.#target, this.#nameFor(entry.file)), this.#pages.timelinePage([entry]));
    else this.#entries.push(entry);
  }

  /** Call it after the last one. */
  close(): void {
    if (!this.#isFolder) fs.writeFileSync(this.#target, this.#pages.timelinePage(this.#entries));
  }

  /** Files of several folders may have the same name. */
  #nameFor(file: string): string {
    const base = file === STANDARD_INPUT ? 'standard-input' : path.basename(file);
    for (let count = 1; ; count++) {
      const name = `${base}${count === 1 ? '' : `-${count}`}.html`;
      if (this.#taken.has(name)) continue;
      this.#taken.add(name);
      return name;
    }
  }
}
