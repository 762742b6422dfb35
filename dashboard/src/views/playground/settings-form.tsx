// SPDX-License-Identifier: Apache-2.0
import { detectorNamed, type ServerFacts } from '../../logic/server-facts.js';
import { Field } from '../../parts/field.js';
import type { Settings } from './settings.js';

interface SettingsFormProps {
  readonly facts: ServerFacts;
  readonly settings: Settings;
  onSettings(settings: Settings): void;
}

const OWN = '';

/** The request's other fields. */
export function SettingsForm({ facts, settings, onSettings }: SettingsFormProps) {
  const { model, otherModel, threshold, silenceThresholdPercent, channels } = settings;
  const change = (changes: Partial<Settings>): void => onSettings({ ...settings, ...changes });
  const points = detectorNamed(facts, model)?.operatingPoints ?? [];
  return (
    <div class="row">
      <Field label="Model">
        {(ids) => (
          <select
            {...ids}
            value={model}
            // Operating points belong to one model, and no model is compared with itself.
            onChange={({ currentTarget: { value } }) =>
              change({
                model: value,
                threshold: facts.threshold,
                otherModel: otherModel === value ? '' : otherModel,
              })
            }
          >
            <ModelOptions facts={facts} />
          </select>
        )}
      </Field>
      <Field label="Compare with">
        {(ids) => (
          <select
            {...ids}
            value={otherModel}
            onChange={({ currentTarget }) => change({ otherModel: currentTarget.value })}
          >
            <option value="">No other model</option>
            <ModelOptions facts={facts} except={model} />
          </select>
        )}
      </Field>
      {points.length > 0 && (
        <Field label="Operating point">
          {(ids) => (
            <select
              {...ids}
              value={typeof threshold === 'string' ? threshold : OWN}
              onChange={({ currentTarget: { value } }) =>
                change({ threshold: value === OWN ? facts.threshold : value })
              }
            >
              <option value={OWN}>A custom threshold</option>
              {points.map(({ name, threshold: at }) => (
                <option key={name} value={name}>
                  {name} ({at})
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      {typeof threshold === 'number' && (
        <NumberField
          label="Threshold (0 to 1)"
          hint="Scores at or above it look AI-generated."
          value={threshold}
          most={1}
          step="any"
          onValue={(value) => change({ threshold: value })}
        />
      )}
      <NumberField
        label="Most silence in a window (%)"
        hint="Windows with more are skipped."
        value={silenceThresholdPercent}
        most={100}
        step="any"
        onValue={(value) => change({ silenceThresholdPercent: value })}
      />
      <Field label="Channels">
        {(ids) => (
          <select
            {...ids}
            value={channels}
            onChange={({ currentTarget }) =>
              change({ channels: currentTarget.value === 'separate' ? 'separate' : 'mixed' })
            }
          >
            <option value="separate">Their mix, and each of them</option>
            <option value="mixed">Only their mix</option>
          </select>
        )}
      </Field>
    </div>
  );
}

function ModelOptions({ facts, except }: { readonly facts: ServerFacts; readonly except?: string }) {
  return facts.modelNames
    .filter((name) => name !== except)
    .map((name) => (
      <option key={name} value={name}>
        {name}
        {name === facts.defaultModel ? ' (default)' : ''}
      </option>
    ));
}

interface NumberFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly value: number;
  readonly most: number;
  readonly step: string;
  onValue(value: number): void;
}

function NumberField({ label, hint, value, most, step, onValue }: NumberFieldProps) {
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <input
          {...ids}
          type="number"
          class="short"
          required
          min={0}
          max={most}
          step={step}
          value={value}
          onInput={({ currentTarget: { value: text, valueAsNumber } }) => {
            if (text !== '' && !Number.isNaN(valueAsNumber)) onValue(valueAsNumber);
          }}
        />
      )}
    </Field>
  );
}
