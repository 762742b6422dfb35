// SPDX-License-Identifier: Apache-2.0
import type { Source } from './settings.js';

/** The subject of a result. */
export interface Recording {
  readonly name: string;
  /** Undefined for links. */
  readonly bytes: number | undefined;
  /** Undefined after a reload of the page, and for links. */
  readonly file: File | undefined;
  /** From this server, for playing; presigned, so not shown. */
  readonly link: string | undefined;
}

export const recordingOf = (source: Source): Recording =>
  source.is === 'file'
    ? { name: source.file.name, bytes: source.file.size, file: source.file, link: undefined }
    : { name: nameIn(source.link), bytes: undefined, file: undefined, link: source.link };

/** Without the signature, which is a secret. */
function nameIn(link: string): string {
  if (!URL.canParse(link)) return link;
  const { host, pathname } = new URL(link);
  const last = pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last) || host;
  } catch {
    return last;
  }
}

/** Whether a result is about a source. */
export const isOf = ({ file, link }: Recording, source: Source): boolean =>
  source.is === 'file' ? source.file === file : source.link === link;
