// SPDX-License-Identifier: Apache-2.0
//
// Runs in the thread of Node's module hooks: notes each loaded ES module in the file of its data.
import fs from 'node:fs';
import type { LoadHook } from 'node:module';

let file = '';

export function initialize(data: { readonly file: string }): void {
  file = data.file;
}

export const load: LoadHook = (url, context, nextLoad) => {
  fs.appendFileSync(file, `${url}\n`);
  return nextLoad(url, context);
};
