// Light and dark: as the system has it, until the switch says otherwise.
import { forgetPalette } from './colours.js';
import { store, stored } from './storage.js';

const key = 'attend-theme';
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
  apply(stored(key) ?? '');
  dark.addEventListener('change', () => {
    forgetPalette();
    onChange();
  });
  return () => {
    const now = document.documentElement.style.colorScheme || (dark.matches ? 'dark' : 'light');
    const next = now === 'dark' ? 'light' : 'dark';
    store(key, next);
    apply(next);
    onChange();
  };
}
