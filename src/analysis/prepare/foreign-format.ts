// SPDX-License-Identifier: Apache-2.0

/** First bytes of files that people send by mistake. */
const signatures: readonly (readonly [start: string, name: string])[] = [
  ['%PDF-', 'a PDF document'],
  ['PK\x03\x04', 'a ZIP archive, or an Office document'],
  ['\x1f\x8b', 'a gzip archive'],
  ['7z\xbc\xaf\x27\x1c', 'a 7z archive'],
  ['Rar!\x1a\x07', 'a RAR archive'],
  ['\xfd7zXZ\x00', 'an xz archive'],
  ['\x28\xb5\x2f\xfd', 'a Zstandard archive'],
  ['\x89PNG', 'a PNG picture'],
  ['\xff\xd8\xff', 'a JPEG picture'],
  ['GIF8', 'a GIF picture'],
  ['\x7fELF', 'a program'],
  ['FLV\x01', 'an FLV video'],
  ['0&\xb2u', 'a WMA or WMV file'],
  ['#!AMR', 'an AMR recording'],
  ['FORM\0', 'an AIFF file'],
  ['MThd', 'a MIDI file'],
  ['caff', 'a CAF file'],
  ['.snd\0', 'a Sun AU file'],
  ['riff\x2e\x91\xcf\x11', 'a Wave64 file'],
  ['wvpk', 'a WavPack file'],
  ['Creative Voice File\x1a', 'a VOC file'],
  ['\x0b\x77', 'a Dolby Digital (AC-3) stream'],
  ['\x7f\xfe\x80\x01', 'a DTS stream'],
  ['.RMF\0', 'a RealMedia file'],
  ['\x00\x00\x01\xba', 'an MPEG program stream'],
];

/** The same for text, in lower case. */
const textSignatures: typeof signatures = [
  ['#extm3u', 'a playlist'],
  ['<?xml', 'XML'],
  ['<!doctype html', 'an HTML page'],
  ['<html', 'an HTML page'],
  ['{', 'JSON'],
];

/** Marks inside files of our own formats, if their beginning is missing. */
const partMarks: typeof signatures = [
  ['OggS\0', 'an Ogg file'],
  ['\x1f\x43\xb6\x75', 'a Matroska or WebM file'],
  ['moof', 'an MP4 file'],
  ['moov', 'an MP4, M4A or MOV file'],
  ['00wb', 'an AVI file'],
  ['01wb', 'an AVI file'],
];

/** The beginnings of our own formats, such as inside an archive. */
const ownMarks = ['OggS\0\x02', 'fLaC\0\0', 'ftyp', '\x1a\x45\xdf\xa3', 'AVI LIST'];

/** Bytes that show the format. Most parts of a container are shorter. */
export const FOREIGN_FORMAT_BYTES = 64 * 1024;
/** Bytes that show text: fewer look like text in mu-law samples. */
const TEXT_BYTES = 4096;
const BYTE_ORDER_MARK = '\xef\xbb\xbf';

const isText = (start: string): boolean => {
  for (const character of start.slice(0, TEXT_BYTES)) {
    const code = character.charCodeAt(0);
    const isControl = code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d;
    if (isControl || code === 0x7f) return false;
  }
  return start !== '';
};

/** Each packet of 188 bytes begins with the same byte. */
const isTransportStream = (start: string): boolean =>
  [0, 188, 376].every((offset) => start[offset] === 'G') && !isText(start);

/** The apparent format of a file that is not a recording; undefined if it is not obvious. */
export function foreignFormat(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, FOREIGN_FORMAT_BYTES)).toString('latin1');
  const withoutMark = start.startsWith(BYTE_ORDER_MARK) ? start.slice(BYTE_ORDER_MARK.length) : start;
  const [, name] = signatures.find(([signature]) => start.startsWith(signature)) ?? [];
  if (name === undefined && isTransportStream(start)) return 'an MPEG transport stream';
  if (name !== undefined) return name;
  if (!isText(start)) {
    if (ownMarks.some((mark) => start.includes(mark))) return undefined;
    const [, whole] = partMarks.find(([mark]) => start.includes(mark)) ?? [];
    return whole === undefined ? undefined : `the later part of ${whole}, without its beginning`;
  }
  const text = withoutMark.trimStart().toLowerCase();
  return textSignatures.find(([signature]) => text.startsWith(signature))?.[1] ?? 'text';
}
