// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { printable } from '../../logic/printable.js';
import { modelsOf, type Voiceprint } from '../../logic/voiceprints.js';
import { Field } from '../../parts/field.js';
import { Problem } from '../../parts/problem.js';
import { useAction } from '../../parts/use-action.js';
import { useSession } from '../../session.js';
import { type Comparison, ComparisonResult } from './comparison-result.js';
import { type Sample, Samples } from './samples.js';

const ANY = '';

/** Compares a sample with one of the kept voiceprints, or looks for its voice among them. */
export function Compare({ voiceprints }: { readonly voiceprints: readonly Voiceprint[] }) {
  const session = useSession();
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  const [chosenId, setChosenId] = useState(ANY);
  const [chosenModel, setChosenModel] = useState('');
  const [result, setResult] = useState<Comparison>();
  const models = modelsOf(voiceprints);
  const model = models.includes(chosenModel) ? chosenModel : models[0];
  const chosen = voiceprints.find(({ id }) => id === chosenId);
  const listed = voiceprints.filter((voiceprint) => voiceprint.model === model);
  const [compare, { isBusy, error }] = useAction(async () => {
    setResult(undefined);
    const sample = samples[0]?.file;
    if (sample === undefined) return;
    if (chosen === undefined) {
      const answer = await session.call((client) => client.identify(sample, listed, { top: 10 }));
      setResult({ kind: 'identified', answer, names: new Map(listed.map(({ id, name }) => [id, name])) });
      return;
    }
    let cosine: number | undefined;
    const onHeaders = (headers: Headers): void => {
      const value = headers.get('x-voice-cosine');
      if (value !== null) cosine = Number(value);
    };
    const answer = await session.call((client) => client.verify(sample, chosen.embedding, { onHeaders }));
    setResult({ kind: 'verified', answer, name: chosen.name, cosine });
  });
  return (
    <section class="card" aria-label="Compare a sample">
      <h2>Compare a sample</h2>
      {voiceprints.length === 0 ? (
        <p class="soft">Enrol a voice first.</p>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void compare();
          }}
        >
          <div class="row">
            <Field label="Compare with">
              {(ids) => (
                <select
                  {...ids}
                  value={chosen?.id ?? ANY}
                  onChange={({ currentTarget }) => setChosenId(currentTarget.value)}
                >
                  <option value={ANY}>All saved voiceprints: who is it?</option>
                  {voiceprints.map(({ id, name }) => (
                    <option key={id} value={id}>
                      {printable(name)}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            {chosen === undefined && models.length > 1 && (
              <Field label="Made by" hint="Voiceprints of different models cannot be compared.">
                {(ids) => (
                  <select
                    {...ids}
                    value={model}
                    onChange={({ currentTarget }) => setChosenModel(currentTarget.value)}
                  >
                    {models.map((id) => (
                      <option key={id} value={id}>
                        {printable(id)}
                      </option>
                    ))}
                  </select>
                )}
              </Field>
            )}
          </div>
          <Samples
            samples={samples}
            most={1}
            hint="At least 1 s of speech; 5 s or more is better."
            isDisabled={isBusy}
            onChange={setSamples}
          />
          <button type="submit" class="main" disabled={isBusy || samples.length === 0}>
            Compare
          </button>{' '}
          <span role="status">{isBusy ? 'Sending and comparing …' : ''}</span>
        </form>
      )}
      {error !== undefined && <Problem error={error} />}
      {result !== undefined && <ComparisonResult comparison={result} />}
    </section>
  );
}
