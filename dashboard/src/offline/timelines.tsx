// SPDX-License-Identifier: Apache-2.0
//
// The script of pages by `veravox predict --html`.
import { render } from 'preact';
import { themeChanged } from '../shown-theme.js';
import type { Sheet } from './sheet.js';
import { Sheets } from './sheets.js';

const root = document.querySelector('#app');
const sheets = JSON.parse(document.querySelector('#data')?.textContent ?? '[]') as readonly Sheet[];
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', themeChanged);
if (root !== null) {
  root.replaceChildren();
  render(<Sheets sheets={sheets} />, root);
}
