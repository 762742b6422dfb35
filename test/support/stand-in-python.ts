// SPDX-License-Identifier: Apache-2.0
//
// Replaces Python with PyTorch: acts like training/imported/convert.py from the view of `veravox models import`.
import fs from 'node:fs';
import path from 'node:path';
import { meanDetector } from './onnx-file.js';

export const WINDOW_SAMPLES = 64_600;
export const logits = [-1.5, 0.5] as const;

/** Action after writing the files, or instead. */
export type Behaviour =
  | 'works'
  | 'lacks packages'
  | 'refuses'
  | 'crashes'
  | 'writes no onnx'
  | 'writes other logits'
  | 'hangs'
  | 'fills the disk';

const program = `#!/usr/bin/env node
const fs = require('node:fs'), path = require('node:path');
const option = (name) => process.argv[process.argv.indexOf(name) + 1];
const here = __dirname, out = option('--out'), name = option('--name'), behaviour = fs.readFileSync(path.join(here, 'behaviour'), 'utf8');
fs.appendFileSync(path.join(here, 'calls'), process.pid + ' ' + process.argv.slice(2).join(' ') + '\\n');
const end = (code, text) => { process.stderr.write(text + '\\n'); process.exit(code); };
if (behaviour === 'lacks packages') end(4, 'onnx torch');
if (behaviour === 'refuses') end(3, '2 missing: LL.weight, LL.bias.\\n1 unexpected: proj_fc.weight.');
if (behaviour === 'crashes') end(1, 'Traceback\\nMemoryError: no room for 1264177160 bytes');
const write = (file, content) => fs.writeFileSync(path.join(out, file), content);
if (behaviour === 'fills the disk') write(name + '.onnx.data', Buffer.alloc(64 << 20));
const graph = fs.readFileSync(path.join(here, 'graph')).toString('latin1').replaceAll('NAME', name);
write(name + '.onnx', behaviour === 'writes no onnx' ? '<!doctype html>' : Buffer.from(graph, 'latin1'));
write(name + '.onnx.data', fs.readFileSync(path.join(here, 'weights')));
write('inputs.f32', Buffer.alloc(2 * 4 * ${WINDOW_SAMPLES}));
const logits = behaviour === 'writes other logits' ? [-1.5, 0.503] : ${JSON.stringify(logits)};
const report = { window_samples: ${WINDOW_SAMPLES}, spoof_index: 0, normalises: false, parameters: 2, logits: [logits, logits] };
if (behaviour === 'hangs') { fs.writeFileSync(path.join(here, 'hanging'), ''); setInterval(() => {}, 1000); }
else write('report.json', JSON.stringify(report));
`;

/** Writes the program into `folder` and returns its path. The model's id must have four characters, as the graph's has. */
export function standInPython(folder: string, behaviour: Behaviour): string {
  const file = path.join(folder, 'python');
  fs.writeFileSync(path.join(folder, 'behaviour'), behaviour);
  fs.writeFileSync(path.join(folder, 'graph'), meanDetector(WINDOW_SAMPLES, 'NAME.onnx.data'));
  fs.writeFileSync(path.join(folder, 'weights'), Buffer.from(Float32Array.from(logits).buffer));
  fs.writeFileSync(file, program, { mode: 0o755 });
  return file;
}

/** Its log of calls: process and arguments. */
export function callsOf(folder: string): string[] {
  const file = path.join(folder, 'calls');
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim().split('\n') : [];
}
