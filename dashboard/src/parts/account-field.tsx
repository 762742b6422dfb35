// SPDX-License-Identifier: Apache-2.0
import * as patterns from '../logic/patterns.js';
import { TextField } from './text-field.js';

interface AccountFieldProps {
  readonly hint: string;
  readonly isRequired?: boolean;
  readonly value: string;
  readonly onType: (text: string) => void;
}

/** The name of an account. */
export const AccountField = ({ isRequired = false, ...rest }: AccountFieldProps) => (
  <TextField
    {...rest}
    {...patterns.account}
    label="Account"
    required={isRequired}
    maxLength={32}
    autocomplete="off"
  />
);
