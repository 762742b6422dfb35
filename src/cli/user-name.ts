// SPDX-License-Identifier: Apache-2.0
import { InvalidArgumentError } from 'commander';
import { isName, nameSchema } from '../base/contract/names.js';

export function parseUserName(name: string): string {
  if (isName(name)) return name;
  throw new InvalidArgumentError(`Expected ${nameSchema.expected} for the name.`);
}
