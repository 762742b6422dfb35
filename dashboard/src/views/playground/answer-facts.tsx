// SPDX-License-Identifier: Apache-2.0
import { clock } from '../../logic/clock.js';
import type { Stage } from '../../logic/server-timing.js';
import { saveFile } from '../../parts/save-file.js';
import type { Outcome } from './analysis.js';

const explanations: Readonly<Record<string, string>> = {
  receive: 'arrival of the file',
  queue: 'waiting for a thread',
  decode: 'to samples',
  features: 'for the model',
  inference: 'the model',
};

/** What else the answer says, and how long it took. */
export function AnswerFacts({ outcome: { prediction, modelId, stages } }: { readonly outcome: Outcome }) {
  const download = (): void =>
    saveFile(
      `${prediction.prediction_id}.json`,
      'application/json',
      JSON.stringify(prediction, undefined, 2),
    );
  return (
    <div class="answer-facts">
      <dl class="facts">
        <dt>Audio</dt>
        <dd>
          {clock(prediction.audio_duration)} ({prediction.segments.length} windows with a verdict)
        </dd>
        <dt>Model</dt>
        <dd>{modelId ?? prediction.model}</dd>
        <dt>Prediction</dt>
        <dd>
          <code>{prediction.prediction_id}</code>
        </dd>
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
