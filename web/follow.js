// Keeping a view at the map that the state selects.
import { latest } from './latest.js';
import { loadMap } from './maps.js';
import { pairOf } from './pairs.js';

/**
 * What a view of one map does: it shows what is known while the model writes, then the whole.
 * @param {import('./main.js').App} app
 * @param {function(import('./maps.js').HeatMap): void} show
 * @param {function(): void} clear
 * @returns {Pick<import('./views.js').View, 'update'|'leave'>}
 */
export function followMap(app, show, clear) {
  const load = latest(app, clear);
  const update = () => {
    const { run, selection } = app;
    const { path } = app.store.state;
    if (run.done) {
      const key = JSON.stringify([run.id, selection, path]);
      return load(key, () => loadMap(run, selection, path), show);
    }
    // What is known meanwhile is where the steps say that the output looked.
    const isWatched = run.watched && selection.pair === pairOf(run.watched);
    const live = isWatched && run.liveMap();
    if (!live) return load.reset();
    load.drop();
    show(live);
  };
  return { update, leave: load.drop };
}
