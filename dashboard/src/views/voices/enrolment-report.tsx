// SPDX-License-Identifier: Apache-2.0
import type { SampleEnrollment } from 'veravox-client';
import { advice, agreementOf, noiseOf, ratings, refusals, speechOf } from '../../logic/enrolment-hints.js';
import { Name } from '../../parts/name.js';
import { Table } from '../../parts/table.js';

interface EnrolmentReportProps {
  readonly name: string;
  /** Of the samples, in their order. */
  readonly fileNames: readonly string[];
  readonly answer: SampleEnrollment;
}

/** The quality of a voiceprint, the worth of each sample, and ways to make it better. */
export function EnrolmentReport({ name, fileNames, answer: { samples, quality } }: EnrolmentReportProps) {
  const accepted = samples.filter((sample) => sample.accepted).length;
  return (
    <div class="notice" role="status">
      <h3>
        <Name text={name} /> is saved in this browser
      </h3>
      <p>
        {ratings[quality.rating]} It uses {accepted} of {samples.length}{' '}
        {samples.length === 1 ? 'sample' : 'samples'} with {quality.speech.toFixed(1)} s of speech.
      </p>
      {quality.shortcomings.length > 0 && (
        <ul>
          {quality.shortcomings.map((shortcoming) => (
            <li key={shortcoming}>{advice[shortcoming]}</li>
          ))}
        </ul>
      )}
      <Table label="Each sample" columns={['Sample', 'Used', 'Speech', 'Noise', 'Similarity to the others']}>
        {samples.map((sample) => (
          <tr key={sample.index}>
            <td>
              <Name text={fileNames[sample.index] ?? ''} />
            </td>
            <td>{sample.reason === null ? 'yes' : refusals[sample.reason]}</td>
            <td>{speechOf(sample)}</td>
            <td>{noiseOf(sample)}</td>
            <td>{agreementOf(sample)}</td>
          </tr>
        ))}
      </Table>
    </div>
  );
}
