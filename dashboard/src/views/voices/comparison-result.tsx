// SPDX-License-Identifier: Apache-2.0
import { type Conclusion, conclusionOf } from '../../logic/conclusion.js';
import { percent } from '../../logic/formats.js';
import { windowsOf } from '../../logic/windows.js';
import { Name } from '../../parts/name.js';
import { Table } from '../../parts/table.js';
import { VerdictFigures } from '../../parts/verdict/verdict-figures.js';
import { VerdictHeadline } from '../../parts/verdict/verdict-headline.js';
import type { Authenticity, Comparison } from './questions.js';

const probability = (share: number): string =>
  share > 0 && share < 0.001 ? 'below 0.1 %' : percent(share, 1);

export interface Compared {
  readonly comparison: Comparison;
  readonly authenticity: Authenticity;
  /** Of the sample. */
  readonly fileName: string;
  /** Of the server at that time. */
  readonly threshold: number;
}

/** The speaker of a sample, and whether it is a human's voice, in words and figures: a copied voice also matches. */
export function ComparisonResult({ comparison, authenticity, fileName, threshold }: Compared) {
  const judged = judgedOf(authenticity, threshold);
  return (
    <div class="notice comparison" role="status">
      <h3>
        <Name text={fileName} />
      </h3>
      <section aria-label="Whose voice">
        <h4>Whose voice is it?</h4>
        {comparison.kind === 'verified' ? (
          <Verified {...comparison} authentic={judged?.conclusion} />
        ) : (
          <Identified {...comparison} authentic={judged?.conclusion} />
        )}
      </section>
      <section aria-label="Human or AI-generated">
        <h4>Is it a human voice?</h4>
        {authenticity.is === 'unknown' || judged === undefined ? (
          <p>
            <span class="verdict uncertain">unknown</span>{' '}
            {authenticity.is === 'unknown' ? authenticity.why : 'No window has enough speech for a verdict.'}
          </p>
        ) : (
          <>
            <VerdictHeadline {...judged} />
            <VerdictFigures {...judged} threshold={threshold}>
              <dt>Model</dt>
              <dd>
                <Name text={authenticity.modelId} />
              </dd>
            </VerdictFigures>
          </>
        )}
      </section>
    </div>
  );
}

function judgedOf(authenticity: Authenticity, threshold: number) {
  if (authenticity.is === 'unknown' || authenticity.prediction.global === null) return undefined;
  const { global, segments, stretches } = authenticity.prediction;
  const windows = windowsOf(segments, threshold);
  return { ...global, conclusion: conclusionOf({ ...global, windows, stretches }) };
}

interface MatchProps {
  readonly isMatch: boolean;
  /** Whether a human speaks; undefined if that is unknown. */
  readonly authentic: Conclusion | undefined;
  readonly name: string;
}

/** A match is good news only if a human speaks. */
function Match({ isMatch, authentic, name }: MatchProps) {
  if (!isMatch) return <span class="verdict uncertain">no match</span>;
  const look = authentic?.look ?? 'uncertain';
  return (
    <>
      <span class={`verdict ${look}`}>match</span> This sounds like <Name text={name} />
      {look === 'spoofed' && ', but it is probably AI-generated: a copy of the voice'}
      {look === 'uncertain' && ', but it is not certain that a human speaks'}.
    </>
  );
}

interface Judgement {
  readonly authentic: Conclusion | undefined;
}

function Verified({
  answer,
  name,
  cosine,
  authentic,
}: Extract<Comparison, { kind: 'verified' }> & Judgement) {
  return (
    <>
      <p class="global">
        <Match isMatch={answer.is_match} authentic={authentic} name={name} />
        {!answer.is_match && (
          <>
            {' '}
            This does not sound enough like <Name text={name} />.
          </>
        )}
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
        <dd>
          {answer.confidence_score.toFixed(3)} (how far the similarity is from the threshold of a match, 0 to
          1)
        </dd>
        <dt>Model</dt>
        <dd>{answer.model_version}</dd>
      </dl>
    </>
  );
}

function Identified({ answer, names, authentic }: Extract<Comparison, { kind: 'identified' }> & Judgement) {
  const best = answer.matches[0];
  const isMatch = best?.is_match === true;
  return (
    <>
      <p class="global">
        <Match
          isMatch={isMatch}
          authentic={authentic}
          name={best === undefined ? '' : (names.get(best.id) ?? best.id)}
        />
        {!isMatch && ` None of the ${answer.compared} saved voiceprints is similar enough.`}
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
