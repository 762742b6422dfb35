// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import { onThemeChange, themeChanged } from './shown-theme.js';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const STORED_AS = 'veravox-theme';
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

const isTheme = (text: string | null): text is Theme => themes.some((theme) => theme === text);

function chosen(): Theme {
  const stored = localStorage.getItem(STORED_AS);
  return isTheme(stored) ? stored : 'system';
}

function apply(): void {
  const theme = chosen();
  const isDark = theme === 'dark' || (theme === 'system' && systemIsDark.matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  themeChanged();
}

/** Shows the chosen theme, and follows the system's if none is chosen. Call it once. */
export function followTheme(): void {
  systemIsDark.addEventListener('change', apply);
  apply();
}

export function choose(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(STORED_AS);
  else localStorage.setItem(STORED_AS, theme);
  apply();
}

/** The chosen theme, and whether the page is dark: canvases read their colours anew if that changes. */
export function useTheme(): { readonly theme: Theme; readonly isDark: boolean } {
  const [, redraw] = useState({});
  useEffect(() => onThemeChange(() => redraw({})), []);
  return { theme: chosen(), isDark: document.documentElement.dataset.theme === 'dark' };
}
