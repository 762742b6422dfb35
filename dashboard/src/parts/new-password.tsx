// SPDX-License-Identifier: Apache-2.0
import { TextField } from './text-field.js';

export const MIN_PASSWORD_CHARS = 12;

interface NewPasswordProps {
  readonly value: string;
  readonly onType: (text: string) => void;
}

/** A password to be set. A password manager may fill it in. */
export const NewPassword = ({ value, onType }: NewPasswordProps) => (
  <TextField
    label="New password"
    hint={`At least ${MIN_PASSWORD_CHARS} characters. A few words are easier to remember than symbols.`}
    type="password"
    required
    minLength={MIN_PASSWORD_CHARS}
    maxLength={256}
    autocomplete="new-password"
    value={value}
    onType={onType}
  />
);
