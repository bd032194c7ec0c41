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
  apply(remembered() ?? '');
  dark.addEventListener('change', () => {
    forgetPalette();
    onChange();
  });
  return () => {
    const now = document.documentElement.style.colorScheme || (dark.matches ? 'dark' : 'light');
    const next = now === 'dark' ? 'light' : 'dark';
    remember(next);
    apply(next);
    onChange();
  };
}

function remembered() {
  try {
    return localStorage.getItem(stored);
  } catch {
    return null; // browsers may keep nothing
  }
}

function remember(name) {
  try {
    localStorage.setItem(stored, name);
  } catch {
    // it lasts as long as the page
  }
}
