// SPDX-License-Identifier: Apache-2.0
import { bytesInWords } from '../../logic/bytes.js';
import { clock } from '../../logic/clock.js';
import { inCount } from '../../logic/formats.js';
import type { Stage } from '../../logic/server-timing.js';
import { Moment } from '../../parts/moment.js';
import { Name } from '../../parts/name.js';
import { saveFile } from '../../parts/save-file.js';
import { addressOf } from '../../place.js';
import type { Outcome } from './analysis.js';
import type { Recording } from './recording.js';

const explanations: Readonly<Record<string, string>> = {
  receive: 'arrival of the file',
  queue: 'waiting for a thread',
  decode: 'to samples',
  features: 'for the model',
  inference: 'the model',
};

interface AnswerFactsProps {
  readonly outcome: Outcome;
  readonly recording: Recording;
}

/** The answer's other facts, and how long it took. */
export function AnswerFacts({ outcome, recording }: AnswerFactsProps) {
  const { prediction, model, modelId, stages, threshold, analysedAt, jobId } = outcome;
  const { name, bytes } = recording;
  const download = (): void => {
    const about = { recording: { name, bytes: bytes ?? null }, model_id: modelId, threshold };
    const report = { ...about, analysed_at: analysedAt, job: jobId ?? null, answer: prediction };
    saveFile(`${name}.verdict.json`, 'application/json', JSON.stringify(report, undefined, 2));
  };
  return (
    <div class="answer-facts">
      <dl class="facts">
        <dt>Recording</dt>
        <dd>
          <Name text={name} />
          {bytes !== undefined && `, ${bytesInWords(bytes)}`}
        </dd>
        <dt>Audio</dt>
        <dd>
          {clock(prediction.audio_duration)} ({inCount(prediction.segments.length, 'window')} with a verdict)
        </dd>
        <dt>Model</dt>
        <dd>
          <Name text={modelId} />
          {modelId !== model && (
            <span class="soft">
              , asked for as <Name text={model} />
            </span>
          )}
        </dd>
        <dt>Threshold</dt>
        <dd>{threshold}</dd>
        <dt>Analysed</dt>
        <dd>
          <Moment at={analysedAt} />
        </dd>
        <dt>Prediction</dt>
        <dd>
          <code>{prediction.prediction_id}</code>
        </dd>
        {jobId !== undefined && (
          <>
            <dt>Job</dt>
            <dd>
              <a href={addressOf('jobs', jobId)}>{jobId}</a>
            </dd>
          </>
        )}
        <dt>Processing time</dt>
        <dd>{prediction.processing_time.toFixed(3)} s</dd>
      </dl>
      {stages.length > 0 && <Stages stages={stages} />}
      <button type="button" onClick={download}>
        Download the answer (JSON)
      </button>
    </div>
  );
}

function Stages({ stages }: { readonly stages: readonly Stage[] }) {
  const longest = Math.max(...stages.map(({ ms }) => ms), 0.001);
  return (
    <table class="stages">
      <caption>Time per stage</caption>
      <thead class="visually-hidden">
        <tr>
          <th scope="col">Stage</th>
          <th scope="col">Milliseconds</th>
        </tr>
      </thead>
      <tbody>
        {stages.map(({ name, ms }) => (
          <tr key={name}>
            <th scope="row">
              {name} <span class="soft">{explanations[name] ?? ''}</span>
            </th>
            <td class="number">
              <span
                class="bar"
                style={{ width: `calc((100% - 6rem) * ${ms / longest})` }}
                aria-hidden="true"
              />{' '}
              {ms.toFixed(1)} ms
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
