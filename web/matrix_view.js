// The alignment matrix and the panel of what its cells say. It draws itself while the model writes.
import { element, isTouched } from './dom.js';
import { followMap } from './follow.js';
import { legend } from './legend.js';
import { Matrix } from './matrix.js';
import { weight } from './numbers.js';
import { Readout } from './readout.js';
import { defaults } from './state.js';
import { heatMapSvg } from './vector.js';

const pause = 200; // milliseconds; the address may not be written at every turn of the wheel

/** @param {import('./main.js').App} app */
export function matrixView(app) {
  const hint = isTouched ? 'Tap a cell.' : 'Point at a cell, or walk with the arrow keys.';
  const readout = new Readout(hint);
  const scale = legend();
  const matrix = new Matrix(
    'Attention matrix: rows look, columns are looked at. Arrow keys walk.',
    {
      onSpare: (width) => node.style.setProperty('--spare', `${width}px`),
      onPoint: (row, column) => readout.show(matrix.map, row, column),
      onZoom() {
        app.showZoom(matrix.canZoom);
        clearTimeout(settling);
        settling = setTimeout(() => keepZoom(matrix.percent), pause);
      },
      onPin: (row, column) => {
        app.store.set({ row, column });
        if (row >= 0 && column >= 0) app.announce(describe(matrix.map, row, column));
      },
    },
  );
  let [zoom, settling] = [defaults.zoom, 0]; // the zoom of the address, as it was last followed
  const keepZoom = (percent) => {
    zoom = percent;
    app.store.set({ zoom });
  };
  const show = (map) => {
    const { row, column, zoom: wanted } = app.store.state;
    matrix.show(map);
    scale.show(map);
    matrix.pin(row, column);
    if (wanted !== zoom && !map.room) {
      zoom = wanted;
      matrix.zoomHere(wanted / matrix.percent);
    }
    app.showZoom(matrix.canZoom);
    readout.show(map, row, column);
  };
  const node = element(
    'div',
    { className: 'beside' },
    element('div', { className: 'stage' }, matrix.node, scale.node),
    readout.node,
  );
  return {
    node,
    draw() {
      matrix.draw();
      if (matrix.map) scale.show(matrix.map);
    },
    update: followMap(app, show),
    zoom: (factor) => matrix.zoomHere(factor),
    leave: () => clearTimeout(settling),
    export: () =>
      matrix.map && {
        title: matrix.map.title,
        svg: () => heatMapSvg([matrix.map]),
        data: matrix.map,
      },
  };
}

function describe(map, row, column) {
  const value = weight(map.values[row * map.columns.length + column]);
  return `${map.rows[row]} looks at ${map.columns[column]}: ${value}`;
}
