// SPDX-License-Identifier: Apache-2.0
import { useCallback, useState } from 'preact/hooks';
import { printable } from '../../logic/printable.js';
import { Field } from '../../parts/field.js';
import { useLoaded } from '../../parts/use-loaded.js';
import { useSession } from '../../session.js';
import type { LiveFields, Phase } from './use-live.js';

interface LiveFormProps {
  readonly phase: Phase;
  onStart(fields: LiveFields): Promise<void>;
  onStop(): Promise<void>;
}

const given = (text: string): number | undefined => (text === '' ? undefined : Number(text));

/** Start and stop, and the fields of the request. */
export function LiveForm({ phase, onStart, onStop }: LiveFormProps) {
  const session = useSession();
  const [models] = useLoaded(
    useCallback(
      async (signal: AbortSignal) => {
        const { models } = await session.admin.listModels({ signal });
        return models.flatMap(({ task, id, aliases }) => (task === 'detection' ? [id, ...aliases] : []));
      },
      [session],
    ),
  );
  const [model, setModel] = useState('');
  const [threshold, setThreshold] = useState('');
  const [silence, setSilence] = useState('');
  const isIdle = phase === 'idle';
  const submit = (event: Event): void => {
    event.preventDefault();
    const [at, silenceAt] = [given(threshold), given(silence)];
    void onStart({
      ...(model !== '' && { model }),
      ...(at !== undefined && { threshold: at }),
      ...(silenceAt !== undefined && { silence_threshold: silenceAt }),
    });
  };
  return (
    <form onSubmit={submit}>
      <div class="row">
        {isIdle ? (
          <button type="submit" class="main">
            Start listening
          </button>
        ) : (
          <button type="button" class="main" disabled={phase !== 'live'} onClick={onStop}>
            Stop
          </button>
        )}
      </div>
      <details>
        <summary>Model, threshold and silence</summary>
        <div class="row">
          <Field label="Model">
            {(ids) => (
              <select
                {...ids}
                value={model}
                disabled={!isIdle}
                onChange={({ currentTarget }) => setModel(currentTarget.value)}
              >
                <option value="">The server's default</option>
                {models.value?.map((name) => (
                  <option key={name} value={name}>
                    {printable(name)}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label="Threshold" hint="0 to 1. Scores at or above it are spoofed.">
            {(ids) => (
              <input
                {...ids}
                type="number"
                class="short"
                placeholder="0.5"
                min="0"
                max="1"
                step="any"
                value={threshold}
                disabled={!isIdle}
                onInput={({ currentTarget }) => setThreshold(currentTarget.value)}
              />
            )}
          </Field>
          <Field label="Silence threshold (%)" hint="Windows with more non-speech are skipped.">
            {(ids) => (
              <input
                {...ids}
                type="number"
                class="short"
                placeholder="80"
                min="0"
                max="100"
                step="any"
                value={silence}
                disabled={!isIdle}
                onInput={({ currentTarget }) => setSilence(currentTarget.value)}
              />
            )}
          </Field>
        </div>
      </details>
    </form>
  );
}
