// SPDX-License-Identifier: Apache-2.0
import type { Identification, Verification } from 'veravox-client';
import { percent } from '../../logic/formats.js';
import { Name } from '../../parts/name.js';
import { Table } from '../../parts/table.js';

export type Comparison =
  | {
      readonly kind: 'verified';
      readonly answer: Verification;
      readonly name: string;
      readonly cosine: number | undefined;
    }
  | {
      readonly kind: 'identified';
      readonly answer: Identification;
      /** Of the voiceprints, by their ids. */
      readonly names: ReadonlyMap<string, string>;
    };

const probability = (share: number): string =>
  share > 0 && share < 0.001 ? 'below 0.1 %' : percent(share, 1);

/** Whether two recordings are of one speaker, in words and figures. */
export function ComparisonResult({ comparison }: { readonly comparison: Comparison }) {
  return (
    <div class="notice" role="status">
      {comparison.kind === 'verified' ? <Verified {...comparison} /> : <Identified {...comparison} />}
    </div>
  );
}

function Match({ isMatch, children }: { readonly isMatch: boolean; readonly children: string }) {
  return <span class={`verdict ${isMatch ? 'bonafide' : 'uncertain'}`}>{children}</span>;
}

function Verified({ answer, name, cosine }: Extract<Comparison, { kind: 'verified' }>) {
  return (
    <>
      <p>
        <Match isMatch={answer.is_match}>{answer.is_match ? 'match' : 'no match'}</Match>{' '}
        {answer.is_match ? 'This sounds like ' : 'This does not sound enough like '}
        <Name text={name} />.
      </p>
      <dl class="facts">
        <dt>Similarity</dt>
        <dd>{answer.similarity_score.toPrecision(3)} (0 to 1)</dd>
        {cosine !== undefined && (
          <>
            <dt>Cosine</dt>
            <dd>{cosine.toFixed(3)}</dd>
          </>
        )}
        <dt>Confidence</dt>
        <dd>{answer.confidence_score.toFixed(3)} (distance from the operating point, 0 to 1)</dd>
        <dt>Model</dt>
        <dd>{answer.model_version}</dd>
      </dl>
    </>
  );
}

function Identified({ answer, names }: Extract<Comparison, { kind: 'identified' }>) {
  const best = answer.matches[0];
  return (
    <>
      <p>
        {best?.is_match ? (
          <>
            <Match isMatch={true}>match</Match> This sounds like <Name text={names.get(best.id) ?? best.id} />
            .
          </>
        ) : (
          <>
            <Match isMatch={false}>no match</Match> None of the {answer.compared} saved voiceprints is similar
            enough.
          </>
        )}
      </p>
      <p>
        A match is no proof: the longer the list, the more its best match resembles any stranger. Probability
        that the speaker is not on the list, if that is as likely as not beforehand:{' '}
        {probability(answer.unknown_probability)}.
      </p>
      <Table
        label="The most similar voiceprints"
        columns={[
          'Voice',
          'Match',
          { number: 'Similarity' },
          { number: 'Cosine' },
          { number: 'Probability' },
          { number: 'Stranger as similar' },
        ]}
      >
        {answer.matches.map((match) => (
          <tr key={match.index}>
            <td>
              <Name text={names.get(match.id) ?? match.id} />
            </td>
            <td>{match.is_match ? 'yes' : 'no'}</td>
            <td class="number">{match.similarity_score.toPrecision(3)}</td>
            <td class="number">{match.cosine.toFixed(3)}</td>
            <td class="number">{probability(match.probability)}</td>
            <td class="number">
              {match.stranger_probability === null ? 'unknown' : probability(match.stranger_probability)}
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}
