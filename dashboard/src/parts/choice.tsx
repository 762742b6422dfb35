// SPDX-License-Identifier: Apache-2.0
import { Field } from './field.js';

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly hint?: string;
  readonly value: Value;
  readonly options: readonly Value[];
  /** The visible text of each. */
  readonly textOf: (value: Value) => string;
  readonly onChoose: (value: Value) => void;
}

/** One of a few. */
export function Choice<Value extends string>({
  label,
  hint,
  value,
  options,
  textOf,
  onChoose,
}: ChoiceProps<Value>) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      {(ids) => (
        <select
          {...ids}
          value={value}
          onChange={({ currentTarget: { selectedIndex } }) => {
            const chosen = options[selectedIndex];
            if (chosen !== undefined) onChoose(chosen);
          }}
        >
          {options.map((option) => (
            <option key={option} value={option}>
              {textOf(option)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
