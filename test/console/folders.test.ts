// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutFolders } from '../../src/console/routes/server-state.js';

test('what is said of failures names files, but not where they lie', () => {
  const cases: readonly [text: string | undefined, shown: string | null][] = [
    [undefined, null],
    ['CUDA is not there', 'CUDA is not there'],
    ['/srv/veravox/node_modules/lib/libonnx.so.1: cannot open', 'libonnx.so.1: cannot open'],
    ["ENOENT: no such file, open '/home/ada/models/a.onnx'", "ENOENT: no such file, open 'a.onnx'"],
    ['5 files/s at https://example.org/a/b', '5 files/s at https://example.org/a/b'],
  ];
  for (const [text, shown] of cases) assert.equal(withoutFolders(text), shown);
});
