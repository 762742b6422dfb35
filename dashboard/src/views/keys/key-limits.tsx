// SPDX-License-Identifier: Apache-2.0
import type { KeyDraft, LimitChoice } from '../../logic/key-fields.js';
import { Choice } from '../../parts/choice.js';
import { Field } from '../../parts/field.js';

interface KeyLimitsProps {
  readonly draft: KeyDraft;
  readonly onChange: (part: Partial<KeyDraft>) => void;
}

const choices: readonly LimitChoice[] = ['server', 'none', 'own'];
const choiceTexts: Readonly<Record<LimitChoice, string>> = {
  server: 'Server default',
  none: 'No limit',
  own: 'Custom',
};

interface LimitFieldProps {
  readonly label: string;
  readonly value: LimitChoice;
  readonly onChoose: (choice: LimitChoice) => void;
}

const LimitField = (props: LimitFieldProps) => (
  <Choice {...props} options={choices} textOf={(choice) => choiceTexts[choice]} />
);

interface NumberFieldProps {
  readonly label: string;
  readonly value: string;
  readonly most: number;
  readonly onInput: (text: string) => void;
}

const NumberField = ({ label, value, most, onInput }: NumberFieldProps) => (
  <Field label={label}>
    {(ids) => (
      <input
        {...ids}
        type="number"
        required
        min={1}
        max={most}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    )}
  </Field>
);

export function KeyLimits({ draft, onChange }: KeyLimitsProps) {
  return (
    <fieldset>
      <legend>Limits</legend>
      <div class="row">
        <LimitField label="Request rate" value={draft.rate} onChoose={(rate) => onChange({ rate })} />
        {draft.rate === 'own' && (
          <>
            <NumberField
              label="Requests"
              value={draft.rateRequests}
              most={999_999_999}
              onInput={(rateRequests) => onChange({ rateRequests })}
            />
            <NumberField
              label="Per (seconds)"
              value={draft.rateWindowS}
              most={86_400}
              onInput={(rateWindowS) => onChange({ rateWindowS })}
            />
          </>
        )}
      </div>
      <div class="row">
        <LimitField
          label="Requests at once"
          value={draft.concurrency}
          onChoose={(concurrency) => onChange({ concurrency })}
        />
        {draft.concurrency === 'own' && (
          <NumberField
            label="At most"
            value={draft.concurrent}
            most={9_999_999}
            onInput={(concurrent) => onChange({ concurrent })}
          />
        )}
      </div>
    </fieldset>
  );
}
