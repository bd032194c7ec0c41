// Asking again and again while only the last question matters.

/**
 * Gives a function that loads what a key names and uses it, unless another key was asked for
 * meanwhile. One load at a time: the next one waits for the one before, which may end early as its
 * signal says that nobody wants it any more. The same key twice loads once, also where it failed.
 * Its `drop` forgets what is on its way, and `reset` takes away what is shown as well: nothing of an
 * earlier run is to be seen while another is written.
 * @param {Pick<import('./main.js').App, 'fail'|'hideNotice'|'waitFor'>} app told of what fails,
 *   that it is over, and what is on its way
 * @param {function(): void} clear takes away what is shown, where what is asked for cannot be
 * @returns {{(key: string, load: function(AbortSignal): Promise<*>, use: function(*): void):
 *   Promise<void>, drop: function(): void, reset: function(): void}}
 */
export function latest(app, clear) {
  let wanted = null;
  let abort = new AbortController();
  let before = Promise.resolve();
  const latestOf = async (key, load, use) => {
    if (key === wanted) return;
    latestOf.drop();
    wanted = key;
    const { signal } = (abort = new AbortController());
    const loading = before.then(() => signal.aborted || load(signal));
    before = loading.catch(() => {});
    app.hideNotice();
    try {
      const value = await app.waitFor(loading);
      if (signal.aborted) return;
      app.hideNotice();
      use(value);
    } catch (error) {
      if (signal.aborted) return;
      clear();
      app.fail(error);
    }
  };
  latestOf.drop = () => {
    wanted = null;
    abort.abort();
  };
  latestOf.reset = () => {
    latestOf.drop();
    clear();
  };
  return latestOf;
}
