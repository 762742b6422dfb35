// SPDX-License-Identifier: Apache-2.0
import * as patterns from '../logic/patterns.js';
import { Field } from './field.js';

interface FilterTextProps {
  readonly label: string;
  readonly value: string;
  readonly pattern: string;
  /** The pattern, in words. */
  readonly title: string;
  /** Called with a text that fits the pattern, or with nothing. */
  readonly onChange: (text: string) => void;
}

/** An id or a name to filter by; empty for all. */
export const FilterText = ({ label, onChange, ...rest }: FilterTextProps) => (
  <Field label={label}>
    {(ids) => (
      <input
        {...rest}
        {...ids}
        placeholder="all"
        size={11}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        onChange={({ currentTarget }) => {
          if (currentTarget.reportValidity()) onChange(currentTarget.value);
        }}
      />
    )}
  </Field>
);

interface FilterProps {
  readonly value: string;
  readonly onChange: (text: string) => void;
}

export const AccountFilter = (props: FilterProps) => (
  <FilterText {...props} {...patterns.account} label="Account" />
);

export const KeyFilter = (props: FilterProps) => <FilterText {...props} {...patterns.keyId} label="Key id" />;
