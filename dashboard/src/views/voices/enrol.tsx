// SPDX-License-Identifier: Apache-2.0
import { useEffect } from 'preact/hooks';
import type { SampleEnrollment } from 'veravox-client';
import { randomId } from '../../../../client/src/random-id.js';
import { useKept } from '../../kept.js';
import { MAX_NAME_CHARS } from '../../logic/voiceprints.js';
import { Field } from '../../parts/field.js';
import { Problem } from '../../parts/problem.js';
import { useKeptAction } from '../../parts/use-action.js';
import { useSession } from '../../session.js';
import { EnrolmentReport } from './enrolment-report.js';
import { keep } from './kept-voiceprints.js';
import { type Sample, Samples } from './samples.js';

const MOST_SAMPLES = 10;

interface Done {
  readonly name: string;
  readonly fileNames: readonly string[];
  readonly answer: SampleEnrollment;
}

/** Makes one voiceprint of several samples, and keeps it. */
export function Enrol({ onMade }: { readonly onMade: () => void }) {
  const session = useSession();
  const [name, setName] = useKept('enrol.name', '');
  const [note, setNote] = useKept('enrol.note', '');
  const [samples, setSamples] = useKept<readonly Sample[]>('enrol.samples', []);
  const [done, setDone] = useKept<Done | undefined>('enrol.done', undefined);
  const [enrol, { isBusy, error }] = useKeptAction('enrol.enrolling', async () => {
    setDone(undefined);
    const files = samples.map(({ file }) => file);
    const answer = await session.call((client) => client.enrollSamples(files));
    await keep([
      {
        id: randomId(),
        name,
        note,
        created: new Date().toISOString(),
        model: answer.model_version,
        speechS: answer.quality.speech,
        embedding: answer.embedding,
      },
    ]);
    setDone({ name, fileNames: samples.map(({ file }) => file.name), answer });
    setName('');
    setNote('');
    setSamples((last) => last.filter((sample) => !samples.includes(sample)));
  });
  // The view that began it may be gone.
  useEffect(() => {
    if (done !== undefined) onMade();
  }, [done, onMade]);
  const submit = (event: Event): void => {
    event.preventDefault();
    void enrol();
  };
  return (
    <section class="card" aria-label="Enrol a voice">
      <h2>Enrol a voice</h2>
      <form onSubmit={submit}>
        <div class="row">
          <Field label="Name of the voice">
            {(ids) => (
              <input
                {...ids}
                required
                maxLength={MAX_NAME_CHARS}
                autocomplete="off"
                value={name}
                onInput={({ currentTarget }) => setName(currentTarget.value)}
              />
            )}
          </Field>
          <Field label="Note">
            {(ids) => (
              <input
                {...ids}
                maxLength={1000}
                autocomplete="off"
                value={note}
                onInput={({ currentTarget }) => setNote(currentTarget.value)}
              />
            )}
          </Field>
        </div>
        <Samples
          samples={samples}
          most={MOST_SAMPLES}
          hint="Best: three from different occasions. Together at least 10 s, with 3 s of speech."
          isDisabled={isBusy}
          onChange={setSamples}
        />
        <button type="submit" class="main" disabled={isBusy || samples.length === 0}>
          Make the voiceprint
        </button>{' '}
        <span role="status">{isBusy ? 'Sending and comparing the samples …' : ''}</span>
      </form>
      {error !== undefined && <Problem error={error} />}
      {done !== undefined && <EnrolmentReport {...done} />}
    </section>
  );
}
