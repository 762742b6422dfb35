// SPDX-License-Identifier: Apache-2.0
import { choose, type Theme, themes, useTheme } from '../theme.js';

const names: Readonly<Record<Theme, string>> = {
  system: 'Auto theme',
  light: 'Light theme',
  dark: 'Dark theme',
};

export function ThemeChoice() {
  const { theme } = useTheme();
  return (
    <select
      aria-label="Theme"
      value={theme}
      onChange={(event) => choose(themes[event.currentTarget.selectedIndex] ?? 'system')}
    >
      {themes.map((each) => (
        <option key={each} value={each}>
          {names[each]}
        </option>
      ))}
    </select>
  );
}
