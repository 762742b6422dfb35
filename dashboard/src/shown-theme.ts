// SPDX-License-Identifier: Apache-2.0

const changes = new EventTarget();

/** Call it when the page's colours have changed. */
export function themeChanged(): void {
  changes.dispatchEvent(new Event('change'));
}

/** Canvases read their colours anew then. @returns what ends it */
export function onThemeChange(listener: () => void): () => void {
  changes.addEventListener('change', listener);
  return () => changes.removeEventListener('change', listener);
}

/** The value of a custom property of the theme, such as `--ink`, for what CSS does not paint. */
export function colour(property: `--${string}`): string {
  return getComputedStyle(document.documentElement).getPropertyValue(property).trim();
}
