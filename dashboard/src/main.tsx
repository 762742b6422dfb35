// SPDX-License-Identifier: Apache-2.0
import { render } from 'preact';
import { App } from './app.js';
import { catchDrops } from './page-drops.js';
import { followTheme } from './theme.js';
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/parts.css';
import './styles/timeline.css';
import './styles/playground.css';
import './styles/office.css';
import './styles/health.css';
import 'uplot/dist/uPlot.min.css';
import './parts/microphone/level-meter.css';
import './parts/plots/plots.css';
import './views/live/live.css';
import './views/voices/voices.css';

followTheme();
catchDrops();
const root = document.querySelector('#app');
if (root !== null) {
  root.replaceChildren();
  render(<App />, root);
}
