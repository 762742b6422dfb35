// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const STORED_AS = 'veravox-theme';
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

const isTheme = (text: string | null): text is Theme => themes.some((theme) => theme === text);

function chosen(): Theme {
  const stored = localStorage.getItem(STORED_AS);
  return isTheme(stored) ? stored : 'system';
}

const changes = new EventTarget();

function apply(): void {
  const theme = chosen();
  const isDark = theme === 'dark' || (theme === 'system' && systemIsDark.matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  changes.dispatchEvent(new Event('change'));
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
  useEffect(() => {
    const listener = (): void => redraw({});
    changes.addEventListener('change', listener);
    return () => changes.removeEventListener('change', listener);
  }, []);
  return { theme: chosen(), isDark: document.documentElement.dataset.theme === 'dark' };
}

/** The value of a custom property of the theme, such as `--ink`, for parts that CSS does not paint. */
export function colour(property: `--${string}`): string {
  return getComputedStyle(document.documentElement).getPropertyValue(property).trim();
}
