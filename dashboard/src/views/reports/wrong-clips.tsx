// SPDX-License-Identifier: Apache-2.0
import { useContext, useMemo, useState } from 'preact/hooks';
import { FileMatcher, filesNamedIn } from '../../logic/match-files.js';
import { type Report, rowNames, type WrongSample } from '../../logic/report.js';
import { Name } from '../../parts/name.js';
import { Still } from '../../parts/still.js';
import { Table } from '../../parts/table.js';
import { AudioFiles, type FileWithPath } from './audio-files.js';
import { ClipPlayer } from './clip-player.js';

/** A file that is chosen twice is one. */
const withoutCopies = (files: readonly FileWithPath[]): readonly FileWithPath[] => [
  ...new Map(
    files.map((each) => [`${each.file.size} ${each.file.lastModified} ${each.path}`, each]),
  ).values(),
];

/** The wrong verdicts farthest from the threshold, with players for the reader's own files. */
export function WrongClips({ report }: { readonly report: Report }) {
  const { most_wrong: wrong, task } = report;
  const isStill = useContext(Still);
  const [files, setFiles] = useState<readonly FileWithPath[]>([]);
  const matcher = useMemo(
    () => new FileMatcher(files.map(({ path, file }) => [path, file] as const)),
    [files],
  );
  if (wrong.length === 0) return null;
  const isTrial = task === 'verification';
  const foundIn = ({ name }: WrongSample) => filesNamedIn(name, isTrial).map((part) => matcher.find(part));
  const playable = wrong.filter((sample) => foundIn(sample).every(({ item }) => item !== undefined)).length;
  return (
    <section class="card" aria-label="Most confidently wrong">
      <h2>Most confidently wrong</h2>
      <p>
        Listen to these first: they are often mislabelled, cut off, or of a kind that the model does not know.
        {!isStill &&
          ` To play the ${rowNames[task]} here, choose the folder with the recordings. The files stay on your computer.`}
      </p>
      {!isStill && (
        <>
          <AudioFiles onFiles={(more) => setFiles((known) => withoutCopies([...known, ...more]))} />
          <p role="status">
            {files.length === 0
              ? ''
              : `${files.length} ${files.length === 1 ? 'file' : 'files'} chosen: ${playable} of ${wrong.length} can be played.`}
          </p>
        </>
      )}
      <Table
        label="The wrong verdicts farthest from the threshold"
        columns={[
          isTrial ? 'Trial' : 'Clip',
          'Label',
          { number: 'Score' },
          { number: 'Confidence' },
          'Reason',
          'System or source',
          ...(isStill ? [] : ['Listen']),
        ]}
      >
        {wrong.map((sample) => (
          <tr key={`${sample.label} ${sample.name}`}>
            <th scope="row" class="named">
              <Name text={sample.name} />
            </th>
            <td>
              <Name text={sample.label} />
            </td>
            <td class="number">{sample.score.toFixed(3)}</td>
            <td class="number">{sample.confidence === null ? '' : sample.confidence.toFixed(3)}</td>
            <td>
              <Name text={sample.reason ?? ''} />
            </td>
            <td>
              <Name text={sample.system ?? sample.source ?? ''} />
            </td>
            {!isStill && (
              <td>
                {files.length > 0 &&
                  foundIn(sample).map((found) => <ClipPlayer key={found.name} found={found} />)}
              </td>
            )}
          </tr>
        ))}
      </Table>
    </section>
  );
}
