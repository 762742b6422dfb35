// SPDX-License-Identifier: Apache-2.0
import type { TargetedInputEvent } from 'preact';
import { Field } from './field.js';

interface TextFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onType: (text: string) => void;
  readonly type?: 'text' | 'password';
  readonly required?: boolean;
  readonly minLength?: number;
  readonly maxLength: number;
  readonly pattern?: string;
  /** The pattern, in words. */
  readonly title?: string;
  readonly autocomplete: 'off' | 'username' | 'current-password' | 'new-password';
}

/** A line of text with its label, taken as it is typed: a name, an account, a password. */
export const TextField = ({ label, hint, type = 'text', onType, ...rest }: TextFieldProps) => (
  <Field label={label} {...(hint !== undefined && { hint })}>
    {(ids) => {
      const props = { ...rest, ...ids, autocapitalize: 'off', spellcheck: false } as const;
      const take = (event: TargetedInputEvent<HTMLInputElement>): void => onType(event.currentTarget.value);
      if (type === 'password') return <input {...props} type="password" onInput={take} />;
      return <input {...props} type="text" onInput={take} />;
    }}
  </Field>
);
