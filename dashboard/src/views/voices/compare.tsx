// SPDX-License-Identifier: Apache-2.0
import { useKept } from '../../kept.js';
import { printable } from '../../logic/printable.js';
import { modelsOf, type Voiceprint } from '../../logic/voiceprints.js';
import { Field } from '../../parts/field.js';
import { Problem } from '../../parts/problem.js';
import { useKeptAction } from '../../parts/use-action.js';
import { useServerFacts } from '../../parts/use-server-facts.js';
import { useSession } from '../../session.js';
import { type Compared, ComparisonResult } from './comparison-result.js';
import { authenticityOf, identified, verified } from './questions.js';
import { type Sample, Samples } from './samples.js';

const ANY = '';

/** Compares a sample with one of the kept voiceprints, or looks for its voice among them. */
export function Compare({ voiceprints }: { readonly voiceprints: readonly Voiceprint[] }) {
  const session = useSession();
  const [samples, setSamples] = useKept<readonly Sample[]>('voices.sample', []);
  const [chosenId, setChosenId] = useKept('voices.chosen', ANY);
  const [chosenModel, setChosenModel] = useKept('voices.model', '');
  const [result, setResult] = useKept<Compared | undefined>('voices.result', undefined);
  const serverFacts = useServerFacts().value;
  const models = modelsOf(voiceprints);
  const model = models.includes(chosenModel) ? chosenModel : models[0];
  const chosen = voiceprints.find(({ id }) => id === chosenId);
  const listed = voiceprints.filter((voiceprint) => voiceprint.model === model);
  const [compare, { isBusy, error }] = useKeptAction('voices.comparing', async () => {
    setResult(undefined);
    const sample = samples[0]?.file;
    if (sample === undefined) return;
    const [comparison, authenticity] = await Promise.all([
      chosen === undefined ? identified(session, sample, listed) : verified(session, sample, chosen),
      authenticityOf(session, sample),
    ]);
    setResult({ comparison, authenticity, fileName: sample.name, threshold: serverFacts?.threshold ?? 0.5 });
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
      {result !== undefined && <ComparisonResult {...result} />}
    </section>
  );
}
