// SPDX-License-Identifier: Apache-2.0
//
// Here and not in the contract, because the error catalogue names them.

/** The containers that native/decode/container_sniffer.cc recognises, by their common names. */
export const mediaFormats = [
  { name: 'WAV', extensions: ['wav'], isAudio: true },
  { name: 'MP3', extensions: ['mp3', 'mp2'], isAudio: true },
  { name: 'AAC', extensions: ['aac'], isAudio: true },
  { name: 'FLAC', extensions: ['flac'], isAudio: true },
  { name: 'OGG', extensions: ['oga', 'ogg', 'opus'], isAudio: true },
  { name: 'M4A', extensions: ['m4a'], isAudio: true },
  { name: 'MP4', extensions: ['mp4', 'm4v'], isAudio: false },
  { name: 'MOV', extensions: ['mov'], isAudio: false },
  { name: 'AVI', extensions: ['avi'], isAudio: false },
  { name: 'MKV', extensions: ['mkv', 'mka'], isAudio: false },
  { name: 'WebM', extensions: ['webm'], isAudio: false },
] as const;

/** `A, B and C` */
export function formatsInWords(
  conjunction: 'and' | 'or',
  formats: readonly { readonly name: string }[],
): string {
  const names = formats.map(({ name }) => name);
  return `${names.slice(0, -1).join(', ')} ${conjunction} ${names.at(-1)}`;
}
