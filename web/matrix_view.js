// The alignment matrix and the panel of what its cells say. It draws itself while the model writes.
import { element } from './dom.js';
import { followMap } from './follow.js';
import { Matrix } from './matrix.js';
import { legend } from './legend.js';
import { heatMapSvg } from './vector.js';
import { number, Readout } from './readout.js';

/** @param {import('./main.js').App} app */
export function matrixView(app) {
  const readout = new Readout('Point at a cell, or walk with the arrow keys.');
  const scale = legend();
  const matrix = new Matrix(
    'Attention matrix: rows look, columns are looked at. Arrow keys walk.',
    {
      onSpare: (width) => node.style.setProperty('--spare', `${width}px`),
      onPoint: (row, column) => readout.show(matrix.map, row, column),
      onPin: (row, column) => {
        app.store.set({ row, column });
        if (row >= 0 && column >= 0) app.announce(describe(matrix.map, row, column));
      },
    },
  );
  const show = (map) => {
    matrix.show(map);
    scale.show(map);
    const { row, column } = app.store.state;
    matrix.pin(row, column);
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
    draw: () => matrix.draw(),
    update: followMap(app, show),
    zoom: (factor) => matrix.zoom(factor),
    export: () =>
      matrix.map && {
        title: matrix.map.title,
        svg: () => heatMapSvg([matrix.map]),
        data: matrix.map,
      },
  };
}

function describe(map, row, column) {
  const value = number(map.values[row * map.columns.length + column]);
  return `${map.rows[row]} looks at ${map.columns[column]}: ${value}`;
}
