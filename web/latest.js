// Asking again and again while only the last question matters.

/**
 * Gives a function that loads what a key names and uses it, unless another key was asked for
 * meanwhile. The same key twice loads once.
 * @param {function(Error): void} onFail
 * @returns {function(string, function(): Promise<*>, function(*): void): Promise<void>}
 */
export function latest(onFail) {
  let wanted = null;
  return async (key, load, use) => {
    if (key === wanted) return;
    wanted = key;
    try {
      const value = await load();
      if (wanted === key) use(value);
    } catch (error) {
      if (wanted !== key) return;
      wanted = null;
      onFail(error);
    }
  };
}
