// The alignment matrix, the panel of what its cells say, and how the chosen one is computed. It
// draws itself while the model writes.
import { arithmetic } from './arithmetic.js';
import { element } from './dom.js';
import { Figure } from './figure.js';
import { followMap } from './follow.js';
import { defaults } from './state.js';
import { heatMapSvg } from './vector.js';

/** @param {import('./main.js').App} app */
export function matrixView(app) {
  const { store } = app;
  let { zoom } = defaults; // of the address, as it was last followed
  const figure = new Figure(
    'Attention map: rows attend to columns. Move with the arrow keys.',
    app,
    {
      onPin: (row, column) => store.set({ row, column }),
      onEnter: () => sum.focus(),
      onZoom() {
        zoom = matrix.percent;
        store.set({ zoom });
        app.showZoom(matrix.canZoom);
      },
    },
  );
  const { matrix } = figure;
  const sum = arithmetic(app);
  const show = (map) => {
    figure.show(map);
    const { row, column, zoom: wanted } = store.state;
    figure.pin(row, column);
    if (wanted !== zoom && !map.room) {
      zoom = wanted;
      matrix.zoomHere(wanted / matrix.percent);
    }
    app.showZoom(matrix.canZoom);
    sum.update(map);
  };
  const clear = () => {
    figure.clear();
    app.showZoom(matrix.canZoom);
    sum.update(null);
  };
  const follow = followMap(app, show, clear);
  return {
    node: element('div', {}, figure.node, sum.node),
    draw: () => figure.draw(),
    update() {
      follow.update();
      sum.update(app.run.done ? figure.map : null);
    },
    leave() {
      follow.leave();
      sum.leave();
    },
    zoom: (factor) => matrix.zoomHere(factor),
    export: () =>
      figure.map && {
        title: figure.map.title,
        svg: () => heatMapSvg([figure.map]),
        data: figure.map,
      },
  };
}
