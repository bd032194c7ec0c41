// Light and dark: as the system has it, until the switch says otherwise.
import { forgetPalette } from './colours.js';

const stored = 'attend-theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

/**
 * Sets the theme up, and gives the function that switches it.
 * @param {function(): void} onChange
 */
export function theme(onChange) {
  const apply = (name) => {
    document.documentElement.style.colorScheme = name;
    forgetPalette();
  };
  apply(localStorage.getItem(stored) ?? '');
  dark.addEventListener('change', () => {
    forgetPalette();
    onChange();
  });
  return () => {
    const now = localStorage.getItem(stored) ?? (dark.matches ? 'dark' : 'light');
    const next = now === 'dark' ? 'light' : 'dark';
    localStorage.setItem(stored, next);
    apply(next);
    onChange();
  };
}
