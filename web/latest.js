// Asking again and again while only the last question matters.

/**
 * Gives a function that loads what a key names and uses it, unless another key was asked for
 * meanwhile. The same key twice loads once. Its `drop` forgets what is on its way: an answer about
 * an earlier run is not to be used while another is written.
 * @param {function(Error): void} onFail
 * @returns {{(key: string, load: function(): Promise<*>, use: function(*): void): Promise<void>,
 *   drop: function(): void}}
 */
export function latest(onFail) {
  let wanted = null;
  const latestOf = async (key, load, use) => {
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
  latestOf.drop = () => (wanted = null);
  return latestOf;
}
