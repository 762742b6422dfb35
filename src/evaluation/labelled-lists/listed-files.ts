// SPDX-License-Identifier: Apache-2.0
import path from 'node:path';
import type { LabelledList } from '../figures/labelled-list.js';
import type { Columns } from '../figures/sample.js';

/** Between the files of an enrolment or a sample, which are joined to one recording. */
const FILE_SEPARATOR = ';';

/** @param folder that of the list, the base of relative paths */
export const clipFile = (name: string, folder: string): string => path.resolve(folder, name);

/** @param folder that of the list, the base of relative paths */
export const voiceFiles = (names: string, folder: string): string[] =>
  names.split(FILE_SEPARATOR).map((name) => path.resolve(folder, name.trim()));

/** All recordings of a list, each once. */
export function listedFiles({ task, samples }: LabelledList, folder: string): string[] {
  const filesOf = ({ path: clip = '', enrolment = '', sample = '' }: Columns): string[] =>
    task === 'detection'
      ? [clipFile(clip, folder)]
      : [...voiceFiles(enrolment, folder), ...voiceFiles(sample, folder)];
  return [...new Set(samples.flatMap(({ columns }) => filesOf(columns)))];
}
