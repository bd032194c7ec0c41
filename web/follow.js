// Keeping a view at the map that the state selects.
import { latest } from './latest.js';
import { loadMap } from './maps.js';

/**
 * Gives the update of a view of one map: what is known of it while the model writes, then the whole.
 * @param {import('./main.js').App} app
 * @param {function(import('./maps.js').HeatMap): void} show
 * @param {function(): void} clear
 */
export function followMap(app, show, clear) {
  const load = latest(app, clear);
  return () => {
    const { run, selection } = app;
    const { path } = app.store.state;
    const live = !run.done && run.liveMap();
    if (live) show(live);
    if (!run.done) return load.drop();
    load(JSON.stringify([run.id, selection, path]), () => loadMap(run, selection, path), show);
  };
}
