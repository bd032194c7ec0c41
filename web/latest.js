// Asking again and again while only the last question matters.

/**
 * Gives a function that loads what a key names and uses it, unless another key was asked for
 * meanwhile. The same key twice loads once, also where it failed. Its `drop` forgets what is on its
 * way: an answer about an earlier run is not to be used while another is written.
 * @param {Pick<import('./main.js').App, 'fail'|'hideNotice'>} app told of what fails, and that it
 *   is over
 * @param {function(): void} clear takes away what is shown, where what is asked for cannot be
 * @returns {{(key: string, load: function(): Promise<*>, use: function(*): void): Promise<void>,
 *   drop: function(): void}}
 */
export function latest(app, clear) {
  let wanted = null;
  const latestOf = async (key, load, use) => {
    if (key === wanted) return;
    wanted = key;
    app.hideNotice();
    try {
      const value = await load();
      if (wanted !== key) return;
      app.hideNotice();
      use(value);
    } catch (error) {
      if (wanted !== key) return;
      clear();
      app.fail(error);
    }
  };
  latestOf.drop = () => (wanted = null);
  return latestOf;
}
