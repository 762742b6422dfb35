// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { printable } from '../../logic/printable.js';
import type { ServerFacts } from '../../logic/server-facts.js';
import { Field } from '../../parts/field.js';
import type { LiveFields, Phase } from './use-live.js';

interface LiveFormProps {
  readonly phase: Phase;
  readonly facts: ServerFacts | undefined;
  onStart(fields: LiveFields): Promise<void>;
  onStop(): Promise<void>;
}

const given = (text: string): number | undefined => (text === '' ? undefined : Number(text));

/** Start and stop, and the fields of the request. */
export function LiveForm({ phase, facts, onStart, onStop }: LiveFormProps) {
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
                {facts?.modelNames.map((name) => (
                  <option key={name} value={name}>
                    {printable(name)}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label="Threshold (0 to 1)" hint="Scores at or above it look AI-generated.">
            {(ids) => (
              <input
                {...ids}
                type="number"
                class="short"
                placeholder={String(facts?.threshold ?? '')}
                min="0"
                max="1"
                step="any"
                value={threshold}
                disabled={!isIdle}
                onInput={({ currentTarget }) => setThreshold(currentTarget.value)}
              />
            )}
          </Field>
          <Field label="Most silence in a window (%)" hint="Windows with more are skipped.">
            {(ids) => (
              <input
                {...ids}
                type="number"
                class="short"
                placeholder={String(facts?.silenceThresholdPercent ?? '')}
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
