// What the browser keeps for this origin. Browsers may keep nothing: then it lasts as long as the
// page, or not at all.

/** @returns {?string} */
export function stored(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Keeps a text under a key; null removes it. Returns whether the browser does. */
export function store(key, text) {
  try {
    if (text === null) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
    return true;
  } catch {
    return false;
  }
}
