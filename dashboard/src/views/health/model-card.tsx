// SPDX-License-Identifier: Apache-2.0
import { useId } from 'preact/hooks';
import type { AdminModel } from 'veravox-client';
import { bytesInWords } from '../../logic/bytes.js';
import { count } from '../../logic/formats.js';
import { Name } from '../../parts/name.js';
import { State } from '../../parts/state.js';
import { CardText } from './card-text.js';
import { Figure } from './figure.js';
import { ThresholdPicker } from './threshold-picker.js';
import { VerificationTable } from './verification-table.js';

/** One model: its identity, its known answers, its error rates. */
export function ModelCard({ model }: { readonly model: AdminModel }) {
  const headingId = useId();
  const { id, aliases, task, file, licence, figures, operating_points: points } = model;
  const isDetector = task === 'detection';
  return (
    <article class="card" aria-labelledby={headingId}>
      <h3 id={headingId}>
        <Name text={id} />
      </h3>
      <dl class="facts">
        <dt>Task</dt>
        <dd>{isDetector ? 'detects AI-generated voices' : 'compares speakers'}</dd>
        {aliases.length > 0 && (
          <>
            <dt>Aliases</dt>
            <dd>
              <Name text={aliases.join(', ')} />
            </dd>
          </>
        )}
        <dt title="Scores of clips that came with the model">Known answers</dt>
        <dd>
          <KnownAnswers answers={model.known_answers} />
        </dd>
        <dt>File</dt>
        <dd>
          {file.bytes === null ? 'missing' : bytesInWords(file.bytes)}, SHA-256{' '}
          <code class="hash">{file.sha256.slice(0, 16)}…</code>
        </dd>
        <dt>Licence</dt>
        <dd>{licence === null ? 'unknown' : <Name text={licence} />}</dd>
        {points.length > 0 && (
          <>
            <dt>Operating points</dt>
            <dd>
              {points.map(({ name, threshold, usable }) => (
                <div key={name}>
                  <Name text={name} /> {threshold} {!usable && <State text="of another model" mood="bad" />}
                </div>
              ))}
            </dd>
          </>
        )}
        {isDetector && figures.eer !== null && (
          <>
            <dt>Equal error rate</dt>
            <dd>
              <Figure figure={figures.eer} />
            </dd>
          </>
        )}
        {isDetector && figures.auc !== null && (
          <>
            <dt>Area under the ROC</dt>
            <dd>
              <Figure figure={figures.auc} isShare={false} />
            </dd>
          </>
        )}
        {figures.measured_on !== null && (
          <>
            <dt>Measured on</dt>
            <dd>
              <Name text={figures.measured_on.replace(/`([^`]*)`/g, '“$1”')} />
              {figures.human_clips !== null && figures.generated_clips !== null && (
                <>
                  {' '}
                  ({count(figures.human_clips)} human and {count(figures.generated_clips)} AI-generated
                  recordings)
                </>
              )}
            </dd>
          </>
        )}
      </dl>
      {isDetector && <ThresholdPicker model={model} />}
      {figures.verification !== null && <VerificationTable rows={figures.verification} />}
      {model.has_card && <CardText id={id} />}
    </article>
  );
}

function KnownAnswers({ answers }: { readonly answers: AdminModel['known_answers'] }) {
  const tried = answers.filter(({ holds }) => holds !== null);
  const wrong = tried.filter(({ holds }) => holds === false);
  if (answers.length === 0) return <>none recorded</>;
  if (wrong.length > 0) return <State text={`${wrong.length} of ${tried.length} wrong`} mood="bad" />;
  return (
    <>
      {tried.length} of {answers.length} tried at the start, {tried.length === 1 ? 'and right' : 'all right'}
    </>
  );
}
